#include "pipelines/commands/run_convert.h"

#include <algorithm>

#include "io/files/file_error.h"
#include "io/records/record_file.h"
#include "io/volume/volume.h"
#include "pipelines/records/classes_from_boxes.h"
#include "pipelines/records/convert_volume.h"
#include "pipelines/records/from_records.h"
#include "pipelines/records/to_records.h"

namespace voxshard {

namespace fs = std::filesystem;

ConvertTo convert_direction(const fs::path& input, const fs::path& output) {
  if (volume_stem(output)) return ConvertTo::kVolume;
  std::error_code error;
  if (!fs::exists(input, error)) throw input_error(input, "does not exist", "check the path");
  if (!fs::is_directory(input, error)) return is_record_name(input) ? ConvertTo::kFolder : ConvertTo::kRecords;
  const fs::directory_iterator files(input, error);
  const bool records =
      !error && std::any_of(begin(files), end(files), [](const auto& entry) { return is_record_name(entry.path()); });
  return records ? ConvertTo::kFolder : ConvertTo::kRecords;
}

TaskReport run_convert(const ConvertRequest& request, ConvertTo to, Progress& progress) {
  if (to == ConvertTo::kVolume)
    return convert_volume(request.input, request.output, volume_formats_with(request.irregular));
  if (to == ConvertTo::kClasses) return classes_from_boxes(request, progress);
  return to == ConvertTo::kFolder ? convert_from_records(request, progress) : convert_to_records(request, progress);
}

}  // namespace voxshard
