// The readers of bytes from outside, each as a function that the fuzzers call: libFuzzer in the preset "fuzz"
// (tests/fuzz/libfuzzer.cc), our own mutations elsewhere (tests/fuzz/fuzz_test.cc).
//
//   run_target(target, "{\"a\": [");       // returned, or refused as files are refused; anything else ends the process
//
// A new reader is a row in one of the tables, with its corpus (tests/fuzz/store_corpus.sh), without which a test fails.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace voxshard {

struct FuzzTarget {
  const char* name;                     // "coco"
  std::vector<std::string> (*seeds)();  // whole inputs to begin with: at least one that is read to its end
  void (*read)(std::string_view bytes);
};

std::vector<FuzzTarget> text_targets();     // JSON, TOML, YAML, Python's lists, graphs, programs
std::vector<FuzzTarget> box_targets();      // COCO, VOC, KITTI, MOT
std::vector<FuzzTarget> media_targets();    // safetensors, images, videos
std::vector<FuzzTarget> volume_targets();   // NIfTI, NRRD, MetaImage, DICOM
std::vector<FuzzTarget> study_targets();    // folders of DICOM files, channels of NRRD and MetaImage
std::vector<FuzzTarget> archive_targets();  // zip and tar
std::vector<FuzzTarget> record_targets();   // TFRecord files, tf.Example, lines of what predict found
std::vector<FuzzTarget> folder_targets();   // manifests, locks, prepared cases, descriptions of checkpoints
/// Returns the targets of all tables.
const std::vector<FuzzTarget>& fuzz_targets();
/// Returns the target of this name. Errors: std::out_of_range for a name that is not in the tables.
const FuzzTarget& fuzz_target(std::string_view name);

enum class Outcome { kRead, kRefused };

/// Runs the reader on `bytes`. Errors: any exception but an Error about the input: a defect, as is an Error of kind
/// kInternal.
Outcome run_target(const FuzzTarget& target, std::string_view bytes);

/// Writes `bytes` to a file of this name in a folder of this process, which is removed at the end; in memory where
/// there is /dev/shm.
std::filesystem::path scratch_file(const std::string& name, std::string_view bytes);

/// Returns at most four files of the test data, each of at most `most_bytes`: seeds where the data exist, else none.
///   folder   "video", below VOXSHARD_TEST_DATA
///   endings  ".mp4"
std::vector<std::string> data_seeds(const std::string& folder, const std::vector<std::string>& endings,
                                    std::uintmax_t most_bytes);

}  // namespace voxshard
