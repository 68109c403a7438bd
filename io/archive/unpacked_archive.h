// The files of an archive that somebody wants, unpacked to a private folder under numbers: "1/17" is the seventeenth
// file of the archive, in its first folder. The archives that were looked at last stay unpacked, a few of them.
//
//   const auto unpacked = unpack_archive("study.zip", [](std::string_view name, std::string_view begin) {
//     return name.ends_with(".nii") ? std::optional(".nii") : std::nullopt; });
//   unpacked->files[0].path                // "/tmp/voxshard-private-x7Bq2k/1/3.nii"
//
// Called by io/volume/archive.cc.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "io/archive/archive_reader.h"
#include "io/files/private_folder.h"

namespace voxshard {

struct UnpackedFile {
  std::filesystem::path path;
  std::string ending;  // as the caller chose it
  std::string hash;    // of its content
};

struct UnpackedArchive {
  explicit UnpackedArchive(const std::filesystem::path& archive) : folder(archive) {}
  PrivateFolder folder;
  std::vector<UnpackedFile> files;               // in the order of the archive
  std::int64_t bytes = 0;                        // of all of them
  std::map<std::string, std::int64_t> left_out;  // entries that were not unpacked, by what they are
};

/// Returns the ending of the name that a file of an archive gets, "" for none; nothing: the file is not wanted.
///   begin  its first bytes, at most 140
using WantedFile = std::function<std::optional<std::string>(std::string_view name, std::string_view begin)>;

/// Unpacks an archive, or returns what was unpacked of it before while its size and time are the same. What somebody
/// holds stays; of the others the last ones stay, at most 16 and 8 GiB, and none where TMPDIR has little room.
/// Errors: kInput E_ARCHIVE, also when TMPDIR has too little room; kOutput. Threads: any; they wait for each other.
std::shared_ptr<const UnpackedArchive> unpack_archive(const std::filesystem::path& path, const WantedFile& wanted,
                                                      const ArchiveLimits& limits = {});

}  // namespace voxshard
