// The output files for the records of one TFRecord file, which the manifest of an output folder must list before they
// are written.
//
//   RecordFiles files(folder, "val", [](std::int64_t record) { return std::vector{name_of(record)}; });
//   files.begin(number);                     // before the files of record `number` are written
//   files.commit();
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "io/output/output_folder.h"

namespace voxshard {

/// Adds files to the manifest in advance, twice as many each time: a "begin" line lists all files of a part, so the
/// manifest's size grows linearly with the number of records, not with its square.
class RecordFiles {
 public:
  /// `names`: returns all files that may be written for a record (the first is 1). Must not outlive `folder`.
  RecordFiles(OutputFolder& folder, std::string part, std::function<std::vector<std::string>(std::int64_t)> names);

  /// Lists the files of a record in the manifest, unless they are listed already. Errors: kOutput.
  void begin(std::int64_t record);
  /// Marks the part as complete, with those of the listed files that exist. Does nothing when no record began.
  void commit();

 private:
  OutputFolder& folder_;
  std::string part_;
  std::function<std::vector<std::string>(std::int64_t)> names_;
  std::set<std::string> files_;
  std::int64_t announced_ = 0;  // records
};

}  // namespace voxshard
