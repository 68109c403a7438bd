#include "pipelines/records/record_files.h"

#include <algorithm>
#include <utility>

namespace voxshard {

RecordFiles::RecordFiles(OutputFolder& folder, std::string part,
                         std::function<std::vector<std::string>(std::int64_t)> names)
    : folder_(folder), part_(std::move(part)), names_(std::move(names)) {}

void RecordFiles::begin(std::int64_t record) {
  if (record <= announced_) return;
  const std::int64_t end = std::max(record, 2 * announced_);
  while (announced_ < end)
    for (std::string& name : names_(++announced_)) files_.insert(std::move(name));
  folder_.begin(part_, files_);
}

void RecordFiles::commit() {
  if (announced_ > 0) folder_.commit(part_, "");
}

}  // namespace voxshard
