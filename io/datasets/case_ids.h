// Ids of cases that carry nothing of their files: folders and files in hospitals are named after patients. An id is an
// ordinal, or a hash that only the holder of a secret can make from the name. The one file that leads from an id back
// to its files is case_paths.json in the work folder, which only its owner may read.
//
//   CaseNames names = read_case_names(work);             // those of an earlier call keep their ordinals
//   give_ids(dataset, secret, names);                    // "case_0001", or "case_9f86d081884c7d65" with a secret
//   write_case_names(work, names);
#pragma once

#include <filesystem>
#include <map>
#include <optional>
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
inline constexpr const char* kCaseNamesFile = "case_paths.json";

/// Reads the names that an earlier call wrote; none without the file. Errors: kInput for a file that is damaged.
CaseNames read_case_names(const std::filesystem::path& work);
/// Reads the files of each case by id, images first, as the call that wrote them named them; none without the file.
/// Errors: kInput for a file that is damaged.
std::map<std::string, std::vector<std::filesystem::path>> read_case_files(const std::filesystem::path& work);
/// Writes them whole or not at all, readable by the owner alone (mode 0600). Errors: kOutput.
///   foreign  files of the input that are no part of a case, for its owner to look at
void write_case_names(const std::filesystem::path& work, const CaseNames& names,
                      const std::vector<std::filesystem::path>& foreign = {});

/// The same for a file of another name.
CaseNames read_case_names_file(const std::filesystem::path& file);
void write_case_names_file(const std::filesystem::path& file, const CaseNames& names,
                           const std::vector<std::filesystem::path>& foreign = {});

/// Returns "case_" and 16 digits of the keyed hash of a name.
std::string salted_id(const Secret& secret, const std::string& name);

/// Gives the cases and problems of a data set new ids and marks them as anonymous.
///   secret  none: ordinals, in the order of hashes of the names, which says nothing about the names
///   names   those of an earlier call, which keep their ordinals; gets all cases and problems
void give_ids(Dataset& dataset, const std::optional<Secret>& secret, CaseNames& names);

}  // namespace voxshard
