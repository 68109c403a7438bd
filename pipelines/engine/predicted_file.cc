#include "pipelines/engine/predicted_file.h"

#include <map>
#include <string_view>
#include <utility>

#include "io/files/atomic_file.h"
#include "io/files/content_hash.h"
#include "io/files/file_error.h"
#include "io/files/json_lines.h"
#include "io/files/open_file.h"
#include "io/output/output_folder.h"
#include "pipelines/engine/seen_inputs.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

fs::path folder_of(const fs::path& file) { return fs::absolute(file).parent_path(); }

std::string hash_of_found(const nlohmann::json& found) { return content_hash(found.dump()); }

bool is_part(const nlohmann::json& line) {
  for (const char* name : {"part", "options", "hash"})
    if (!line.contains(name) || !line.at(name).is_string()) return false;
  return line.contains("found") && line.at("hash") == hash_of_found(line.at("found"));
}

struct OtherLines {
  std::int64_t damaged = 0;
  bool torn = false;  // the last one
};

/// Gives `take` each part of a file, if there is one, and the text of its line; returns what else the file has.
OtherLines each_part(const fs::path& file,
                     const std::function<void(const nlohmann::json& part, const std::string& line)>& take) {
  OtherLines other;
  std::error_code unseen;
  if (!fs::exists(file, unseen)) return other;
  JsonLines lines(file);
  std::optional<nlohmann::json> line;
  const auto next = [&] {
    try {
      line = lines.next();
    } catch (const Error& e) {  // too many lines are no JSON for the rest to be read
      if (e.code() != std::string_view("E_SYNTAX")) throw;
      line.reset();
    }
    return line.has_value();
  };
  while (next())
    if (is_part(*line))
      take(*line, lines.text());
    else
      ++other.damaged;
  other.damaged += lines.damaged(), other.torn = lines.torn();
  return other;
}

/// Writes a file of those parts of `from` that stay.
void copy_parts(const fs::path& from, const fs::path& to,
                const std::function<bool(const nlohmann::json& part)>& stays) {
  AtomicFile out(to);
  each_part(from, [&](const nlohmann::json& part, const std::string& line) {
    if (stays(part)) out.stream() << line << "\n";
  });
  out.commit();
}

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
  require_output_file(parts_file_of(options.output),
                      {"a file of results of predict", {".jsonl"}, [](const fs::path&) { return true; }},
                      place);  // one of another kind is set aside as a damaged one is
  if (options.recursive)
    require_output_file(names_file_of(options.output),
                        {"a list of the inputs behind names", {".jsonl"}, begins_with({"{\"case\":"})}, place);
}

fs::path parts_file_of(const fs::path& output) {
  return output.parent_path() / (output.stem().string() + ".parts.jsonl");
}

void PartsFile::read(const Take& take) {
  const OtherLines other = each_part(file_, [&](const nlohmann::json& line, const std::string&) {
    const std::string part = line.at("part");
    if (line.at("options") != options_ || !take(part, line.at("found")) || !parts_.insert(part).second)
      has_others_ = true;
  });
  damaged_ = other.damaged, torn_ = other.torn;
}

void PartsFile::mend(Progress& progress) {
  const auto all = [](const nlohmann::json&) { return true; };
  if (damaged_ > 0) {
    fs::path aside = file_;
    aside.replace_extension(".damaged.jsonl");
    std::error_code error;
    fs::rename(file_, aside, error);
    if (error) throw output_error(aside, error.message(), "check that its folder is writable");
    progress.warn(file_.filename().string() + " is damaged: " + std::to_string(damaged_) +
                  " of its lines are no results; it is set aside as " + aside.filename().string() +
                  ", and what they held is predicted again");
    copy_parts(aside, file_, all);
  } else if (torn_) {
    copy_parts(file_, file_, all);
  }
  damaged_ = 0, torn_ = false;
}

void PartsFile::add(const std::string& part, const nlohmann::json& found) {
  const nlohmann::ordered_json line = {
      {"part", part}, {"options", options_}, {"hash", hash_of_found(found)}, {"found", found}};
  if (std::ssize(json_line(line)) > JsonLines::kMostLineBytes || !parts_.insert(part).second) return;
  append_json_line(file_, line);
}

void PartsFile::drop_others() {
  if (!has_others_) return;
  std::map<std::string, std::int64_t> left;  // how many lines of a part come still: the last one holds
  const auto is_own = [&](const nlohmann::json& line) {
    return line.at("options") == options_ && parts_.contains(line.at("part").get<std::string>());
  };
  each_part(file_, [&](const nlohmann::json& line, const std::string&) {
    if (is_own(line)) ++left[line.at("part")];
  });
  copy_parts(file_, file_, [&](const nlohmann::json& line) { return is_own(line) && --left[line.at("part")] == 0; });
  has_others_ = false;
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
