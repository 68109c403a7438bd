// The manifest of a folder while its parts are made: one line is written when a part begins and one when it is
// complete.
//
//   PartLog log(folder, kManifestName, manifest);       // for the process that owns the folder
//   PartLog log(folder, 2);                             // for rank 2 of a command, which writes a file of its own
//   if (!log.holds("case_1", data_hash)) {
//     log.begin("case_1", {"images/case_1.nii"});
//     ... write it ...
//     log.commit("case_1", data_hash);
//   }
#pragma once

#include <filesystem>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>

#include "io/output/manifest.h"

namespace voxshard {

/// Threads: any number at once may call holds(), knows(), begin(), commit() and drop().
class PartLog {
 public:
  /// `file`: the name of the manifest file in `folder`.
  PartLog(std::filesystem::path folder, const std::string& file, Manifest manifest);
  /// The log of a rank other than 0, after rank 0 has started the folder: it reads the manifest and adds lines to a
  /// file of its own, which read_manifest() reads after the manifest. Errors: kInput, kOutput.
  PartLog(const std::filesystem::path& folder, int rank);

  /// Returns true when a part is complete and was made from this data with the manifest's options. Reads its files.
  bool holds(const std::string& part, const std::string& data) const;
  /// Returns true when a part was begun, whole or not.
  bool knows(const std::string& part) const {
    const std::scoped_lock lock(mutex_);
    return manifest_.parts.contains(part);
  }
  /// Notes that these files (paths below the folder) are about to be written; an earlier version of the part no longer
  /// counts.
  void begin(const std::string& part, const std::set<std::string>& files);
  /// Notes that the files are written; `data` is the hash of the data they were made from. Missing files are left out.
  void commit(const std::string& part, const std::string& data, const PartTime& took = {});
  /// For a part that cannot be made now: an earlier version no longer counts, and its files are removed.
  void drop(const std::string& part);

  /// Rewrites the whole file: one line for each part, in the order in which they were made. Errors: kOutput.
  void rewrite();
  /// The manifest; requires that no other thread uses this log.
  Manifest& manifest() { return manifest_; }
  const Manifest& manifest() const { return manifest_; }
  /// Removes the files of a part below the folder, except those in `but`. Errors: kOutput.
  void remove_files(const ManifestPart& part, const std::set<std::string>& but = {}) const;

 private:
  void append(const nlohmann::ordered_json& line, bool sync);

  std::filesystem::path folder_, path_;
  Manifest manifest_;
  mutable std::mutex mutex_;
};

}  // namespace voxshard
