// The manifest of a folder while its parts are made: what is whole, what has begun, each said in a line as it happens.
//
//   PartLog log(folder, kManifestName, manifest);       // of the process that owns the folder
//   PartLog log(folder, 2);                             // of rank 2 of a command, which writes beside that one
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

#include "io/files/manifest.h"

namespace voxshard {

/// Threads, of holds(), begin(), commit() and drop(): any number at once.
class PartLog {
 public:
  /// `file`: of `folder`, whose lines these are.
  PartLog(std::filesystem::path folder, const std::string& file, Manifest manifest);
  /// Of another rank than the first, once that one has started the folder: it knows what the manifest says, and adds
  /// lines to a file of its own, which read_manifest() reads behind it. Errors: kInput, kOutput.
  PartLog(const std::filesystem::path& folder, int rank);

  /// Whether a part is there whole, of this data and with the manifest's options. Reads its files.
  bool holds(const std::string& part, const std::string& data) const;
  /// The files (paths below the folder) are about to be written; what the part was before no longer counts.
  void begin(const std::string& part, const std::set<std::string>& files);
  /// They are written; `data` is the hash of what they were made of. Files that are not there are left out.
  void commit(const std::string& part, const std::string& data);
  /// The part cannot be made now: what it was before no longer counts, and its files go.
  void drop(const std::string& part);

  /// Writes the file anew, whole: one line for each part, the later behind the earlier. Errors: kOutput.
  void rewrite();
  /// Of nobody at work in it.
  Manifest& manifest() { return manifest_; }
  /// Removes the files of a part below the folder but for some. Errors: kOutput.
  void remove_files(const ManifestPart& part, const std::set<std::string>& but = {}) const;

 private:
  void append(const nlohmann::ordered_json& line, bool sync);

  std::filesystem::path folder_, path_;
  Manifest manifest_;
  mutable std::mutex mutex_;
};

}  // namespace voxshard
