#include "io/output/manifest.h"

#include <sys/stat.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>

#include "io/files/config_file.h"
#include "io/files/content_hash.h"
#include "io/files/file_error.h"
#include "io/files/file_name.h"
#include "libcore/base/file_format.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kDamaged = "remove the folder, or choose another";

/// Turns the complete lines of a text into one JSON list, for the reader of JSON files.
void lines_to_list(std::string& text) {
  text.resize(text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n'));
  std::replace(text.begin(), text.end(), '\n', ',');
  text = "[" + text + "]";
}

/// Returns `text` when it is a path below the folder; manifests are not trusted.
std::string inner_path(const std::string& text, const fs::path& manifest) {
  if (const std::string problem = relative_path_problem(text, kMostFileNameBytes); !problem.empty())
    throw input_error(manifest, "names a file outside its folder (\"" + shown_name(text) + "\" " + problem + ")",
                      kDamaged);
  return text;
}

constexpr const char *kRankManifest = "manifest_rank", *kRankEnding = ".jsonl";

/// Returns the rank manifests of a folder, sorted by name.
std::set<fs::path> rank_manifests(const fs::path& folder) {
  std::set<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.starts_with(kRankManifest) && name.ends_with(kRankEnding) && it->is_regular_file(error))
      found.insert(it->path());
  }
  return found;
}

/// Reads one manifest file; a torn last line is skipped.
Manifest read_lines(const fs::path& file) {
  try {
    const nlohmann::json lines = read_json(file, {.mend = lines_to_list});
    if (lines.empty()) return Manifest{};  // the command was killed while it wrote the first line
    if (const std::string problem = format_problem(lines.at(0).value("format", "")); !problem.empty())
      throw input_error(file, problem, "remove the folder and make it anew, or choose another");
    Manifest manifest;
    manifest.command = lines.at(0).at("command").get<std::string>();
    manifest.options = lines.at(0).at("options").get<std::string>();
    for (std::size_t i = 1; i < lines.size(); ++i) {
      const auto& line = lines[i];
      const bool whole = line.contains("part");
      ManifestPart part{.options = "", .data = "", .files = {}, .whole = whole, .order = static_cast<std::int64_t>(i)};
      if (whole) {
        part.options = line.at("options").get<std::string>(), part.data = line.at("data").get<std::string>();
        part.took = {.seconds = line.value("seconds", 0.0), .elements = line.value("elements", std::int64_t{0})};
        for (const auto& [path, about] : line.at("files").items())
          part.files[inner_path(path, file)] = {about.at("bytes"), about.at("hash"), about.at("time_ns")};
      } else {
        for (const auto& path : line.at("files")) part.files[inner_path(path, file)] = {};
      }
      manifest.parts[line.at(whole ? "part" : "begin").get<std::string>()] = std::move(part);
    }
    return manifest;
  } catch (const nlohmann::json::exception& e) {
    throw input_error(file, std::string("is damaged (") + e.what() + ")", kDamaged);
  }
}

/// Returns the time of the last change in ns since 1970; 0 when it is unknown.
std::int64_t change_time_ns(const fs::path& path) {
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0) return 0;
  return about.st_mtim.tv_sec * std::int64_t{1'000'000'000} + about.st_mtim.tv_nsec;
}

}  // namespace

std::optional<Manifest> read_manifest(const fs::path& folder) {
  std::error_code unseen;
  if (!fs::exists(folder / kManifestName, unseen)) return std::nullopt;
  Manifest manifest = read_lines(folder / kManifestName);
  read_rank_manifests(folder, manifest);
  return manifest;
}

std::string rank_manifest_name(int rank) { return kRankManifest + std::to_string(rank) + kRankEnding; }

void read_rank_manifests(const fs::path& folder, Manifest& manifest) {
  auto order = static_cast<std::int64_t>(manifest.parts.size());
  for (const auto& [name, part] : manifest.parts) order = std::max(order, part.order + 1);
  for (const fs::path& file : rank_manifests(folder)) {
    const Manifest of_rank = read_lines(file);
    if (of_rank.command != manifest.command) continue;
    for (const auto& [name, part] : of_rank.parts) {
      ManifestPart& known = manifest.parts[name];
      known = part;
      known.order += order;
    }
  }
}

void remove_rank_manifests(const fs::path& folder) {
  for (const fs::path& file : rank_manifests(folder)) {
    std::error_code error;
    fs::remove(file, error);
    if (error) throw output_error(file, "it cannot be removed: " + error.message(), "check its permissions");
  }
}

Json head_line(const Manifest& manifest) {
  return {{"format", kFileFormat},
          {"command", manifest.command},
          {"options", manifest.options},
          {"voxshard", VOXSHARD_VERSION}};
}

Json begin_line(const std::string& part, const ManifestPart& about) {
  Json files = Json::array();
  for (const auto& [path, ignored] : about.files) files.push_back(path);
  return {{"begin", part}, {"files", files}};
}

Json part_line(const std::string& part, const ManifestPart& about) {
  Json files = Json::object();
  for (const auto& [path, file] : about.files)
    files[path] = {{"bytes", file.bytes}, {"hash", file.hash}, {"time_ns", file.time_ns}};
  Json line = {{"part", part}, {"options", about.options}, {"data", about.data}, {"files", files}};
  if (about.took.elements > 0) line["seconds"] = about.took.seconds, line["elements"] = about.took.elements;
  return line;
}

ManifestFile manifest_file(const fs::path& path) {
  std::error_code error;
  const ManifestFile file{
      .bytes = fs::file_size(path, error), .hash = file_hash(path), .time_ns = change_time_ns(path)};
  if (error) throw input_error(path, error.message(), "check the path and its permissions");
  return file;
}

bool is_unchanged(const fs::path& path, const ManifestFile& noted) {
  std::error_code error;
  if (fs::file_size(path, error) != noted.bytes || error) return false;
  return change_time_ns(path) == noted.time_ns || has_content(path, noted);
}

bool has_content(const fs::path& path, const ManifestFile& noted) {
  std::error_code error;
  return fs::file_size(path, error) == noted.bytes && !error && file_hash(path) == noted.hash;
}

}  // namespace voxshard
