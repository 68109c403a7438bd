// What made a folder: FOLDER/manifest.jsonl, one line of JSON for each thing that happened, written as it happens, so
// that a killed command leaves what it did. The first line names the command and the hash of its options; "begin" says
// that files of a part (a case, an image) are about to be written; "part" that they are whole, with what they were
// made of.
//
//   {"format":"voxshard 2","command":"prepare","options":"6f0c…","voxshard":"0.1.0"}
//   {"begin":"case_3","files":["images/case_3.nii"]}
//   {"part":"case_3","options":"6f0c…","data":"11d2…","files":{"images/case_3.nii":{"bytes":960352,"hash":"…","time_ns":…}}}
//
//   std::optional<Manifest> m = read_manifest("work");      // none: not a folder of ours
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

struct ManifestPart {
  std::string options, data;                  // hashes of what it was made with, and of
  std::map<std::string, ManifestFile> files;  // by path below the folder
  bool whole = false;                         // else begun: its files may be there or not
  std::int64_t order = 0;                     // later parts may speak of earlier ones
};

struct Manifest {
  std::string command, options;
  std::map<std::string, ManifestPart> parts;
};

/// None when the folder has no manifest. A torn last line is left out. Errors: kInput for one that is damaged, of
/// another format or names files outside the folder.
std::optional<Manifest> read_manifest(const std::filesystem::path& folder);

/// What a rank other than the first writes beside the manifest while its command runs, "manifest_rank2.jsonl", in the
/// same form. read_manifest() reads these files behind it, so that what a killed command has finished counts; the
/// command's end, or the start of the next one, leaves none.
std::string rank_manifest_name(int rank);
/// Adds what stands in those of the folder to what a manifest of the same command says. Errors: as read_manifest().
void read_rank_manifests(const std::filesystem::path& folder, Manifest& manifest);
/// Errors: kOutput.
void remove_rank_manifests(const std::filesystem::path& folder);

nlohmann::ordered_json head_line(const Manifest& manifest);
nlohmann::ordered_json begin_line(const std::string& part, const ManifestPart& about);
nlohmann::ordered_json part_line(const std::string& part, const ManifestPart& about);

/// Size, hash and time of a file as it is now. Errors: kInput.
ManifestFile manifest_file(const std::filesystem::path& path);
/// Whether a file is as it was noted: size and time, and where the time is another (a copy), the content.
bool is_unchanged(const std::filesystem::path& path, const ManifestFile& noted);
/// The same by size and content, whatever the time.
bool has_content(const std::filesystem::path& path, const ManifestFile& noted);

}  // namespace voxshard
