// The outputs of a prediction that goes into one JSON file: checks of what may be written, the results of each input
// until all are there, and the list of inputs that are left out. What lies beside the JSON carries its name, since the
// folder may hold other files.
//
//   require_predicted_file(options, "the classes that a classifier predicts go", class_predictions_file());
//   fs::path list = write_left_out(report, options.output);                // found.quarantine.csv beside found.json
#pragma once

#include <set>

#include "io/datasets/case_ids.h"
#include "io/output/output_file.h"
#include "pipelines/engine/requests.h"

namespace voxshard {

/// Returns where a prediction may be written: not into the input nor the run, but into a run whose own it is.
OutputPlace output_place(const PredictOptions& options, const std::string& option = "{output}");

/// Returns the file of that name in which a next command writes what it makes of the prediction: beside the output, or
/// beside the run in whose folder that lies.
std::filesystem::path beside_output(const PredictOptions& options, const std::string& name);

/// Returns "found.quarantine.csv" for "found.json".
std::filesystem::path quarantine_of(const std::filesystem::path& output);

/// Returns "found.case_paths.jsonl" for "found.json": the file that leads from the names of inputs in folders back to
/// them, for the owner of the output alone (io/datasets/case_ids.h).
std::filesystem::path names_file_of(const std::filesystem::path& output);
/// Writes that file; none without names. Errors: kOutput.
void write_input_names(const std::filesystem::path& output, const CaseNames& names, const ForeignFiles& foreign);

/// Throws kUsage for an output that is no .json: "[predict] WHAT to a JSON file, got ...".
void require_json_output(const PredictOptions& options, const std::string& what);

/// Checks the output, its quarantine list and its list of trained inputs before anything is written. Errors: those of
/// require_json_output and require_output_file.
void require_predicted_file(const PredictOptions& options, const std::string& what, const OutputKind& kind);

/// Returns "found.parts.jsonl" for "found.json": the PartsFile of a prediction.
std::filesystem::path parts_file_of(const std::filesystem::path& output);

/// Makes the folder of the output. Errors: kOutput.
void make_folder_of(const std::filesystem::path& output);

/// Writes the quarantine list when an input is left out, or to replace an old list. Also writes the list of trained
/// inputs (write_seen in seen_inputs.h). Returns the path of the quarantine list. Errors: kOutput.
std::filesystem::path write_left_out(const PredictReport& report, const std::filesystem::path& output);

/// What was found in each input of a prediction that goes into one JSON file, kept beside it as the inputs end: a call
/// after a kill, or of the next night, does not compute it again. One line of JSON for each input has "part", a hash of
/// what was predicted and of the cut, "options", the prediction_hash(), "found", and "hash", of that. The bytes of the
/// file are not trusted.
class PartsFile {
 public:
  /// `options`: the hash of the run and of what decides the results.
  PartsFile(std::filesystem::path file, std::string options) : file_(std::move(file)), options_(std::move(options)) {}

  /// Returns true when a part is of an input of this call, and could be taken.
  using Take = std::function<bool(const std::string& part, const nlohmann::json& found)>;
  /// Gives `take` each part of an earlier call with the same options; changes nothing. Memory: one line, and 64 bytes
  /// for each part that is taken. Errors: kInput when there is a file that cannot be read.
  void read(const Take& take);
  /// Makes the file one that add() can add to, after read(): drops a torn last line, and sets a file aside in which
  /// other lines are damaged, and says so; its good lines stay. Errors: kOutput.
  void mend(Progress& progress);
  /// Adds a part that is not in the file; one that is too long for a line is not kept. Errors: kOutput.
  void add(const std::string& part, const nlohmann::json& found);
  /// Drops the parts that are not of this call, and of a part that stands twice all but the last. Errors: kInput,
  /// kOutput.
  void drop_others();

 private:
  std::filesystem::path file_;
  std::string options_;
  std::set<std::string> parts_;  // of this call
  std::int64_t damaged_ = 0;     // lines
  bool torn_ = false, has_others_ = false;
};

/// The quarantine.csv of a folder while its batch goes on: a watch may leave out inputs without end, and does not write
/// all of them again for each.
class QuarantineList {
 public:
  explicit QuarantineList(std::filesystem::path folder) : folder_(std::move(folder)) {}
  /// Brings the file up to date: the first call replaces that of an earlier call of the command, with a row that a kill
  /// cut short; later ones add rows, or replace a file that cannot be added to. Errors: kOutput.
  ///   failures  those of the call before come first, without those that were dropped since
  ///   dropped   number of rows of earlier calls that are out of date; the file is written whole when there are more
  void write(const std::vector<CaseFailure>& failures, std::size_t dropped = 0);

 private:
  std::filesystem::path folder_;
  std::optional<std::size_t> written_;  // rows of the file; none: it is not of this list
  std::size_t dropped_ = 0;
};

}  // namespace voxshard
