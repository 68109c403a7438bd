// The outputs of a prediction that goes into one JSON file: what may be written, and the list of what is left out,
// which stands beside it under its name, since the folder may be anybody's.
//
//   require_predicted_file(options, "the classes that a classifier predicts go", class_predictions_file());
//   fs::path list = write_left_out(report, options.output);                // found.quarantine.csv beside found.json
#pragma once

#include "io/files/output_file.h"
#include "pipelines/engine/requests.h"

namespace voxshard {

/// "found.quarantine.csv" for "found.json".
std::filesystem::path quarantine_of(const std::filesystem::path& output);

/// Errors: kUsage for an output that is no .json: "[predict] WHAT to a JSON file, got ...".
void require_json_output(const PredictOptions& options, const std::string& what);

/// Errors: as that, and as require_output_file for the output and its list.
void require_predicted_file(const PredictOptions& options, const std::string& what, const OutputKind& kind);

/// Makes the folder of the output. Errors: kOutput.
void make_folder_of(const std::filesystem::path& output);

/// Writes the list, also over an old one that no longer holds; none where nothing is left out and none lies there. So
/// with the list of what the run was trained on (seen_inputs.h).
/// Returns its name. Errors: kOutput.
std::filesystem::path write_left_out(const PredictReport& report, const std::filesystem::path& output);

}  // namespace voxshard
