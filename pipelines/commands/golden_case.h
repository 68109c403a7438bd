// The golden case of a model: a generated input, what the model found in it, and golden.json, which holds the hashes of
// both, of the model's parameters and of the answer under each instruction set.
//
//   RUN/golden/input/golden_0000.nii.gz  answer/golden.nii.gz  golden.json
//   {"format": "voxshard golden 1", "task": "segmentation", "version": "0.2.0", "processor": "AMD EPYC 9B14",
//    "model": {...}, "preparation": "9f…", "parameters": {"encoder/0/conv/weights": "ab…"},
//    "files": {"input/golden_0000.nii.gz": "0c…"}, "reference": "amx", "answers": {"amx": "77…", "avx2": "5e…"},
//    "hash": "d1…"}
//
// "hash" is the SHA-256 of the document without it, and the file is accepted only as golden_text() writes it: a byte
// that is changed anywhere is found.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "pipelines/model_runs/trained_run.h"

namespace voxshard {

inline constexpr const char* kGoldenName = "golden.json";

struct GoldenCase {
  std::string task, version;                      // of the program that made it
  std::string processor;                          // its model name, as cpu_name()
  nlohmann::json model;                           // ModelSpec
  std::string preparation;                        // SHA-256 of the run's preparation as JSON
  std::map<std::string, std::string> parameters;  // SHA-256 by name
  std::map<std::string, std::string> files;       // SHA-256 by path below the folder, golden.json left out
  std::string reference;                          // the instruction set that gave the stored answer
  std::map<std::string, std::string> answers;     // Task::answer_hash() by instruction set
};

/// Returns the folder of a model's golden case: "golden" in the run folder, or beside a checkpoint file.
std::filesystem::path golden_folder_of(const std::filesystem::path& model);

/// Returns what golden.json holds.
std::string golden_text(const GoldenCase& golden);
/// Parses such a text, without a look at its hash.
///   file  its name, for messages
/// Errors: kMismatch for anything else.
GoldenCase parse_golden(const std::string& text, const std::filesystem::path& file);
/// Reads golden.json of a folder. Its names are only compared, never opened. Errors: kInput when there is none;
/// kMismatch when it is not as golden_text() writes it.
GoldenCase read_golden(const std::filesystem::path& folder);

/// Returns a golden case with the facts of a run: model, preparation, parameters.
GoldenCase golden_facts(const TrainedRun& run);
/// Returns the hashes of the files below a folder, golden.json left out; "" for what is no file of its own, such as a
/// link. Errors: kMismatch for more than kMostGoldenFiles; kInput for what cannot be read.
std::map<std::string, std::string> golden_files(const std::filesystem::path& folder);
inline constexpr std::size_t kMostGoldenFiles = 1000;

}  // namespace voxshard
