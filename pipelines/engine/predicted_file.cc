#include "pipelines/engine/predicted_file.h"

#include <utility>

#include "io/files/open_file.h"
#include "io/files/output_folder.h"
#include "pipelines/engine/seen_inputs.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

fs::path folder_of(const fs::path& file) { return fs::absolute(file).parent_path(); }

}  // namespace

OutputPlace output_place(const PredictOptions& options, const std::string& option) {
  OutputPlace place{.inputs = options.read_paths(), .own = {}, .option = option};
  if (!options.into_run) return place;
  std::erase(place.inputs, options.run);
  place.own = options.run;
  return place;
}

fs::path beside_output(const PredictOptions& options, const std::string& name) {
  const fs::path& output = options.into_run ? options.run : options.output;
  return (output.has_filename() ? output : output.parent_path()).parent_path() / name;
}

fs::path quarantine_of(const fs::path& output) {
  return output.parent_path() / (output.stem().string() + ".quarantine.csv");
}

fs::path names_file_of(const fs::path& output) {
  return output.parent_path() / (output.stem().string() + "." + kCaseNamesFile);
}

void write_input_names(const fs::path& output, const CaseNames& names, const ForeignFiles& foreign) {
  if (!names.empty()) write_case_names_file(names_file_of(output), names, foreign.files);
}

void require_json_output(const PredictOptions& options, const std::string& what) {
  if (options.output.extension() != ".json")
    throw Error(ErrorKind::kUsage, "[predict] " + what + " to a JSON file, got {output} " + options.output.string());
}

void require_predicted_file(const PredictOptions& options, const std::string& what, const OutputKind& kind) {
  require_json_output(options, what);
  const OutputPlace place = output_place(options);
  require_output_file(options.output, kind, place);
  require_output_file(quarantine_of(options.output),
                      {"a list of what is left out", {".csv"}, begins_with({"case,code,message"})}, place);
  require_output_file(seen_file_of(options.output), seen_file(), place);
  if (options.recursive)
    require_output_file(names_file_of(options.output),
                        {"a list of the inputs behind names", {".jsonl"}, begins_with({"{\"case\":"})}, place);
}

void make_folder_of(const fs::path& output) { make_output_folder(folder_of(output)); }

fs::path write_left_out(const PredictReport& report, const fs::path& output) {
  write_seen(output, report.seen);
  const fs::path list = quarantine_of(output);
  const std::vector<CaseFailure> left = left_out(report);
  if (!left.empty() || fs::exists(list)) write_quarantine(folder_of(list), left, list.filename().string());
  return list;
}

void QuarantineList::write(const std::vector<CaseFailure>& failures, std::size_t dropped) {
  if (std::exchange(dropped_, dropped) != dropped) written_.reset();
  std::string rows;
  for (std::size_t i = written_.value_or(0); i < failures.size(); ++i) rows += quarantine_row(failures[i]);
  const bool is_added = written_ && (rows.empty() || append_to_file(folder_ / "quarantine.csv", rows, true) == 0);
  if (!is_added) write_quarantine(folder_, failures);
  written_ = failures.size();
}

}  // namespace voxshard
