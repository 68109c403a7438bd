// Ids of cases that carry nothing of their files: folders and files in hospitals are named after patients. An id is an
// ordinal, or a hash that only the holder of a secret can make from the name. The one file that leads from an id back
// to its files is case_paths.jsonl in the work folder, which only its owner may read.
//
//   CaseNames names = read_case_names(work);             // those of an earlier call keep their ordinals
//   give_ids(dataset, secret, names);                    // "case_0001", or "case_9f86d081884c7d65" with a secret
//   write_case_names(work, names);
//
// A line of it is a case, or a file of the input that is no part of one; of several lines of a case the last holds:
//
//   {"case":"case_0001","name":"ct_77dddbdf335a","files":["/data/MEIER/ct/#series=ct_77dddbdf335a"]}
//   {"foreign":"/data/MEIER/notes.txt"}
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "io/datasets/dataset.h"
#include "io/files/secret_file.h"

namespace voxshard {

/// The cases by id: the name that each had before, and its files.
struct NamedCase {
  std::string name;                          // a plain text that is the same as long as the case lies where it lies
  std::vector<std::filesystem::path> files;  // images first; none for a case of an earlier call that is not there now
};
using CaseNames = std::map<std::string, NamedCase>;

/// The file of the names in a work folder.
inline constexpr const char* kCaseNamesFile = "case_paths.jsonl";

/// Reads the names that an earlier call wrote, without a last line that a kill cut short; none without the file.
/// Errors: kInput for a file that is damaged, and where only case_paths.json is there, which an older version wrote.
CaseNames read_case_names(const std::filesystem::path& work);
/// Reads the files of each case by id, images first, as the call that wrote them named them; none without the file.
/// Errors: as read_case_names().
std::map<std::string, std::vector<std::filesystem::path>> read_case_files(const std::filesystem::path& work);
/// Writes them whole or not at all, readable by the owner alone (mode 0600). Errors: kOutput.
///   foreign  files of the input that are no part of a case, for its owner to look at
void write_case_names(const std::filesystem::path& work, const CaseNames& names,
                      const std::vector<std::filesystem::path>& foreign = {});

/// The same for a file of another name.
CaseNames read_case_names_file(const std::filesystem::path& file);
void write_case_names_file(const std::filesystem::path& file, const CaseNames& names,
                           const std::vector<std::filesystem::path>& foreign = {});

/// The names of a folder while cases arrive in it without end: the file is read once, and gets a line for each case
/// that is new or lies elsewhere.
class CaseNamesLog {
 public:
  explicit CaseNamesLog(const std::filesystem::path& work) : file_(work / kCaseNamesFile) {}

  /// Returns the names that an earlier call wrote, read when they are first asked for, and those that were added.
  /// Errors: as read_case_names().
  const CaseNames& names();
  /// Adds names; those that are known already change nothing. Errors: as names().
  void add(const CaseNames& now);
  /// True where names() holds none, or was never asked for.
  bool empty() const { return !all_ || all_->empty(); }
  /// Brings the file up to date: the first call replaces that of an earlier call of the command, with a line that a
  /// kill cut short; later ones add lines, which are on the disk then, or replace a file that cannot be added to.
  /// Without names nothing is written. Errors: kOutput.
  ///   foreign  as in write_case_names(); the same in each call
  void write(const std::vector<std::filesystem::path>& foreign = {});

 private:
  std::filesystem::path file_;
  std::optional<CaseNames> all_;
  std::set<std::string> unwritten_;  // ids of names that the file lacks
  bool is_written_ = false;          // the file is of this log
};

/// Returns "case_" and 16 digits of the keyed hash of a name.
std::string salted_id(const Secret& secret, const std::string& name);

/// Gives the cases and problems of a data set new ids and marks them as anonymous.
///   secret  none: ordinals, in the order of hashes of the names, which says nothing about the names
///   names   those of an earlier call, which keep their ordinals; gets all cases and problems
void give_ids(Dataset& dataset, const std::optional<Secret>& secret, CaseNames& names);

}  // namespace voxshard
