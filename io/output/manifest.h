// The record of how a folder was made: FOLDER/manifest.jsonl, one line of JSON per event, written at once, so that a
// killed command leaves a record of its work. The first line names the command and the hash of its options; "begin"
// says that the files of a part (a case, an image) are about to be written; "part" says that they are complete, with
// the hash of the data they were made from.
//
//   {"format":"voxshard 2","command":"prepare","options":"6f0c…","voxshard":"0.2.0"}
//   {"begin":"case_3","files":["images/case_3.nii"]}
//   {"part":"case_3","options":"6f0c…","data":"11d2…","files":{"images/case_3.nii":{"bytes":960352,"hash":"…","time_ns":…}},
//    "seconds":2.5,"elements":262144}
//
//   std::optional<Manifest> m = read_manifest("work");      // none: no voxshard command made this folder
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace voxshard {

inline constexpr const char* kManifestName = "manifest.jsonl";

struct ManifestFile {
  std::uint64_t bytes = 0;
  std::string hash;          // of the content
  std::int64_t time_ns = 0;  // of the last change, since 1970
};

/// What making a part took, by which the time of further ones is estimated; nothing where it was not measured.
struct PartTime {
  double seconds = 0;
  std::int64_t elements = 0;  // of the work, in a unit of the command
};

struct ManifestPart {
  std::string options, data;                  // hashes of the options and of the data it was made from
  std::map<std::string, ManifestFile> files;  // by path below the folder
  bool whole = false;                         // false: begun only, its files may exist or not
  std::int64_t order = 0;                     // later parts may refer to earlier ones
  PartTime took = {};
};

struct Manifest {
  std::string command, options;
  std::map<std::string, ManifestPart> parts;
};

/// Reads a folder's manifest; none when there is no such file. A torn last line is skipped. Errors: kInput for a
/// manifest that is damaged, of another format or names files outside the folder.
std::optional<Manifest> read_manifest(const std::filesystem::path& folder);

/// Returns "manifest_rank2.jsonl", the file that a rank other than 0 writes beside the manifest while its command runs,
/// in the same form. read_manifest() reads these files after the manifest, so that parts finished by a killed command
/// count. They are removed when the command ends, or when the next one starts.
std::string rank_manifest_name(int rank);
/// Adds the parts in the folder's rank manifests of the same command to `manifest`. Errors: as read_manifest().
void read_rank_manifests(const std::filesystem::path& folder, Manifest& manifest);
/// Removes the rank manifests of a folder. Errors: kOutput.
void remove_rank_manifests(const std::filesystem::path& folder);

nlohmann::ordered_json head_line(const Manifest& manifest);
nlohmann::ordered_json begin_line(const std::string& part, const ManifestPart& about);
nlohmann::ordered_json part_line(const std::string& part, const ManifestPart& about);

/// Returns the current size, hash and time of a file. Errors: kInput.
ManifestFile manifest_file(const std::filesystem::path& path);
/// Returns true when a file has the noted size and the noted time; where the time differs (a copy), the noted content.
bool is_unchanged(const std::filesystem::path& path, const ManifestFile& noted);
/// Returns true when a file has the noted size and content, whatever its time.
bool has_content(const std::filesystem::path& path, const ManifestFile& noted);

}  // namespace voxshard
