#include "pipelines/engine/foreign_files.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>

#include "io/files/file_name.h"
#include "libcore/base/text.h"

namespace voxshard {
namespace {

constexpr std::size_t kMostShown = 10;

/// An ending may be a part of a name ("scan.MEIER"): those of this list alone are shown.
constexpr std::array<std::string_view, 38> kEndings = {
    ".avi",  ".bmp", ".csv",  ".dcm",   ".doc", ".docx", ".dvh",  ".gz",  ".hdr", ".html", ".ima", ".img", ".ini",
    ".jpeg", ".jpg", ".json", ".jsonl", ".log", ".md",   ".mha",  ".mhd", ".mkv", ".mov",  ".mp4", ".nii", ".nrrd",
    ".odt",  ".pdf", ".png",  ".raw",   ".tar", ".tif",  ".tiff", ".tsv", ".txt", ".xls",  ".xml", ".zip"};

std::string kind_of(const std::filesystem::path& file) {
  std::string ending = file.extension().string();
  if (ending.empty()) return "without an ending";
  std::ranges::transform(ending, ending.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::ranges::find(kEndings, ending) != kEndings.end() ? ending : "other";
}

std::map<std::string, std::int64_t> kinds_of(const ForeignFiles& foreign) {
  std::map<std::string, std::int64_t> kinds;
  for (const auto& file : foreign.files) ++kinds[kind_of(file)];
  return kinds;
}

std::string name_of(const ForeignFiles& foreign, const std::filesystem::path& file) {
  return file.lexically_relative(foreign.folder).generic_string();
}

}  // namespace

std::string text_of(const ForeignFiles& foreign) {
  std::vector<std::string> parts, named;
  const auto add_link = [&] {
    if (foreign.links > 0)
      parts.push_back(counted(foreign.links, "link that leads", "links that lead") + " out of the folder");
    if (foreign.folders > 0)
      parts.push_back(counted(foreign.folders, "folder that was", "folders that were") + " not entered" +
                      (foreign.is_tree        ? ", too deep or not to be read"
                       : foreign.folders == 1 ? "; {recursive} looks into it"
                                              : "; {recursive} looks into them"));
  };
  if (!foreign.files.empty()) {
    if (foreign.shows_names) {
      for (std::size_t i = 0; i < std::min(kMostShown, foreign.files.size()); ++i)
        named.push_back(shown_name(name_of(foreign, foreign.files[i])));
      if (foreign.files.size() > kMostShown) named.push_back("...");
    } else {
      for (const auto& [kind, count] : kinds_of(foreign))
        named.push_back(std::to_string(count) + " " + (kind == "other" ? "of another kind" : kind));
    }
    parts.push_back(counted(std::ssize(foreign.files), "file that is no input", "files that are no inputs") + " (" +
                    joined(named, ", ") + ")");
  }
  add_link();
  return joined(parts, ", ");
}

std::string none_found_text(const std::string& instead) {
  return (instead.empty() ? "" : " (but " + instead + ")") + "; what is read: voxshard help formats";
}

nlohmann::ordered_json to_json(const ForeignFiles& foreign) {
  nlohmann::ordered_json kinds = nlohmann::ordered_json::object();
  for (const auto& [kind, count] : kinds_of(foreign)) kinds[kind] = count;
  nlohmann::ordered_json json = {
      {"files", std::ssize(foreign.files)}, {"links", foreign.links}, {"folders", foreign.folders}, {"kinds", kinds}};
  if (!foreign.shows_names) return json;
  nlohmann::ordered_json& names = json["names"] = nlohmann::ordered_json::array();
  for (const auto& file : foreign.files) names.push_back(name_of(foreign, file));
  return json;
}

}  // namespace voxshard
