// The files that the records of one TFRecord file become, as the manifest of an output folder has to know them before
// they are written.
//
//   RecordFiles files(folder, "val", [](std::int64_t record) { return std::vector{name_of(record)}; });
//   files.begin(number);                     // before what record `number` becomes is written
//   files.commit();
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "io/files/output_folder.h"

namespace voxshard {

/// Announces ahead, twice as far each time: the manifest says all files of a part whenever it begins, and so grows with
/// the number of records and not with its square.
class RecordFiles {
 public:
  /// `names`: all files that a record (the first is 1) may become. Must not outlive `folder`.
  RecordFiles(OutputFolder& folder, std::string part, std::function<std::vector<std::string>(std::int64_t)> names);

  /// Errors: kOutput.
  void begin(std::int64_t record);
  /// The part is whole: of what was announced, the files that are there. Nothing where no record began.
  void commit();

 private:
  OutputFolder& folder_;
  std::string part_;
  std::function<std::vector<std::string>(std::int64_t)> names_;
  std::set<std::string> files_;
  std::int64_t announced_ = 0;  // records
};

}  // namespace voxshard
