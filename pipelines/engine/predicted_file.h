// The outputs of a prediction that goes into one JSON file: checks of what may be written, and the list of inputs that
// are left out. The list lies beside the JSON and carries its name, since the folder may hold other files.
//
//   require_predicted_file(options, "the classes that a classifier predicts go", class_predictions_file());
//   fs::path list = write_left_out(report, options.output);                // found.quarantine.csv beside found.json
#pragma once

#include "io/datasets/case_ids.h"
#include "io/files/output_file.h"
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

/// Makes the folder of the output. Errors: kOutput.
void make_folder_of(const std::filesystem::path& output);

/// Writes the quarantine list when an input is left out, or to replace an old list. Also writes the list of trained
/// inputs (write_seen in seen_inputs.h). Returns the path of the quarantine list. Errors: kOutput.
std::filesystem::path write_left_out(const PredictReport& report, const std::filesystem::path& output);

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
