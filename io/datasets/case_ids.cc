#include "io/datasets/case_ids.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>

#include "io/files/atomic_file.h"
#include "io/files/content_hash.h"
#include "io/files/file_error.h"
#include "io/files/file_name.h"
#include "io/files/json_lines.h"
#include "io/files/open_file.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

Error damaged_names(const fs::path& file) {
  return input_error(file, "is not as prepare wrote it", "move it away; ids may then be given anew");
}

std::string ordinal_id(std::size_t number) {
  char text[32];
  std::snprintf(text, sizeof text, "case_%04zu", number);
  return text;
}

/// Gives each new name the next ordinal that no id has.
std::map<std::string, std::string> ordinals(const std::set<std::string>& names, const CaseNames& earlier) {
  std::map<std::string, std::string> ids;
  for (const auto& [id, one] : earlier) ids[one.name] = id;
  std::vector<std::pair<std::string, std::string>> fresh;  // hash and name
  for (const std::string& name : names)
    if (!ids.contains(name)) fresh.emplace_back(content_hash(std::string_view(name)), name);
  std::sort(fresh.begin(), fresh.end());
  std::size_t next = 1;
  for (const auto& [hash, name] : fresh) {
    while (earlier.contains(ordinal_id(next))) ++next;
    ids[name] = ordinal_id(next++);
  }
  return ids;
}

/// Throws where the names stand in the file of an older version alone: ids would be given anew, to other cases.
void refuse_older_names(const fs::path& file) {
  fs::path older = file;
  older.replace_extension(".json");
  std::error_code error;
  if (!fs::exists(file, error) && fs::exists(older, error))
    throw input_error(older, "leads from ids to files in the form of an older version, which is not read",
                      "choose another output, or move this file away, and with it what carries its ids: they are then "
                      "given anew");
}

/// Calls take(id, entry) for each line of a case in a file of names; for none where there is no file. Errors: kInput
/// for one that is damaged, or of an older version.
template <class Take>
void for_each_named(const fs::path& file, Take take) {
  refuse_older_names(file);
  std::error_code error;
  if (!fs::exists(file, error)) return;
  JsonLines lines(file);
  try {
    while (const auto line = lines.next()) {
      if (line->contains("case"))
        take(line->at("case").get<std::string>(), *line);
      else if (!line->contains("foreign"))
        throw damaged_names(file);
    }
  } catch (const json::exception&) {
    throw damaged_names(file);
  }
  if (lines.damaged() > 0) throw damaged_names(file);
}

std::string line_of_name(const std::string& id, const NamedCase& one) {
  nlohmann::ordered_json files = nlohmann::ordered_json::array();
  for (const fs::path& file : one.files) files.push_back(file.string());
  return json_line({{"case", id}, {"name", one.name}, {"files", files}});
}

std::vector<fs::path> files_of(const Case& item) {
  std::vector<fs::path> files = item.images;
  if (item.label) files.push_back(*item.label);
  for (const ClassedStructures& labels : item.structures) files.push_back(labels.file);
  return files;
}

}  // namespace

CaseNames read_case_names(const fs::path& work) { return read_case_names_file(work / kCaseNamesFile); }

CaseNames read_case_names_file(const fs::path& file) {
  CaseNames names;
  for_each_named(file, [&](const std::string& id, const json& one) {
    names[id] = {.name = one.at("name").get<std::string>(), .files = {}};
  });
  // Ids become names of files.
  for (const auto& [id, one] : names)
    if (!name_problem(id).empty()) throw damaged_names(file);
  return names;
}

std::map<std::string, std::vector<fs::path>> read_case_files(const fs::path& work) {
  std::map<std::string, std::vector<fs::path>> files;
  for_each_named(work / kCaseNamesFile, [&](const std::string& id, const json& one) {
    files[id].clear();
    for (const json& path : one.at("files")) files[id].emplace_back(path.get<std::string>());
  });
  return files;
}

void write_case_names(const fs::path& work, const CaseNames& names, const std::vector<fs::path>& foreign) {
  write_case_names_file(work / kCaseNamesFile, names, foreign);
}

void write_case_names_file(const fs::path& file, const CaseNames& names, const std::vector<fs::path>& foreign) {
  std::string text;
  for (const auto& [id, one] : names) text += line_of_name(id, one);
  for (const fs::path& one : foreign) text += json_line({{"foreign", one.string()}});
  write_private_text(file, text);
}

const CaseNames& CaseNamesLog::names() {
  if (!all_) all_ = read_case_names_file(file_);
  return *all_;
}

void CaseNamesLog::add(const CaseNames& now) {
  names();
  for (const auto& [id, one] : now) {
    const auto [known, is_new] = all_->try_emplace(id);
    if (!is_new && known->second.name == one.name && known->second.files == one.files) continue;
    known->second = one;
    unwritten_.insert(id);
  }
}

void CaseNamesLog::write(const std::vector<fs::path>& foreign) {
  if (empty()) return;
  std::string lines;
  for (const std::string& id : unwritten_) lines += line_of_name(id, all_->at(id));
  const bool is_added = is_written_ && (lines.empty() || append_to_file(file_, lines, true) == 0);
  if (!is_added) write_case_names_file(file_, *all_, foreign);
  is_written_ = true, unwritten_.clear();
}

std::string salted_id(const Secret& secret, const std::string& name) {
  return "case_" + keyed_hash(secret, "voxshard case " + name).substr(0, 16);
}

void give_ids(Dataset& dataset, const std::optional<Secret>& secret, CaseNames& names) {
  std::set<std::string> all;
  for (const auto* cases : {&dataset.training, &dataset.test})
    for (const Case& item : *cases) all.insert(item.id);
  for (const CaseProblem& problem : dataset.problems) all.insert(problem.id);
  const auto by_ordinal = secret ? std::map<std::string, std::string>() : ordinals(all, names);
  const auto id_of = [&](const std::string& name) { return secret ? salted_id(*secret, name) : by_ordinal.at(name); };
  for (auto* cases : {&dataset.training, &dataset.test}) {
    for (Case& item : *cases) {
      const std::string id = id_of(item.id);
      names[id] = {.name = item.id, .files = files_of(item)};
      item.id = id, item.anonymous = true;
    }
    std::sort(cases->begin(), cases->end(), [](const Case& a, const Case& b) { return a.id < b.id; });
  }
  for (CaseProblem& note : dataset.notes) note.id = id_of(note.id);
  for (CaseProblem& problem : dataset.problems) {
    const std::string id = id_of(problem.id);
    if (!names.contains(id) || names[id].files.empty()) names[id] = {.name = problem.id, .files = problem.files};
    problem.id = id;
  }
}

}  // namespace voxshard
