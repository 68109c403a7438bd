// A study that arrives under a name that was finished before (DCMTK's storescp gives the folder of a study the same
// name each time): unchanged, corrected, or with slices that came late. One that failed is predicted again although it
// is unchanged, because what made it fail may be gone: a full disk, too little memory.
//
//   const StudyAgain again = take_study_again("inbox/st_1", "done");
//   if (again.is_known()) progress.log(again.text());       // the entry is gone, or has all files of the study
//
// Called by arriving_images.h, with {rules}.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "io/inbox/repeated_entry.h"

namespace voxshard {

struct StudyAgain {
  std::size_t changed = 0;                          // files that are new or differ
  bool failed = false;                              // it failed before, and none of its files is new or differs
  std::vector<std::filesystem::path> earlier = {};  // the study as it was finished; empty: it comes for the first time
  bool waits = false;                               // earlier files were moved into it: it is complete when quiet again

  bool is_known() const { return !earlier.empty(); }
  /// True where nothing is to be predicted.
  bool is_unchanged() const { return is_known() && changed == 0 && !failed; }
  /// Returns "a study was sent again unchanged", "a study came again with 3 new or changed files: ..."; no name of it.
  std::string text() const;
};

/// Looks for a folder of DICOM files among the finished ones, done/NAME and done/failed/NAME. One of which no file is
/// new or changed is the same study again, which had failed where it lies in failed; an empty one, which is left of a
/// study that was sent again, is unchanged in both. One with other files is the same study too where
/// both are of the same studies by StudyInstanceUID, or one of both has no image; else it comes for the first time,
/// whatever its name. Reads files up to their first difference. Errors: kInput for a file that cannot be read.
StudyAgain find_study_again(const std::filesystem::path& entry, const std::filesystem::path& done);

/// The same, and removes the entry where it is unchanged, else moves the files that it lacks into it. Each step may be
/// the last before a kill: the next call goes on. Errors: kInput, kOutput.
StudyAgain take_study_again(const std::filesystem::path& entry, const std::filesystem::path& done);

}  // namespace voxshard
