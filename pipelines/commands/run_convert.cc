#include "pipelines/commands/run_convert.h"

#include <algorithm>

#include "io/dicom/structures.h"
#include "io/files/file_error.h"
#include "io/records/record_file.h"
#include "io/volume/volume.h"
#include "pipelines/records/classes_from_boxes.h"
#include "pipelines/records/convert_structures.h"
#include "pipelines/records/convert_volume.h"
#include "pipelines/records/from_records.h"
#include "pipelines/records/to_nnunet.h"
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

namespace {

/// False for a segmentation that is written as it is, as volumes are.
bool needs_image_or_classes(const ConvertRequest& request) {
  return !request.like.empty() || !request.classes.empty() || is_structure_set_file(request.input);
}

}  // namespace

TaskReport run_convert(const ConvertRequest& request, ConvertTo to, Progress& progress) {
  const bool structures = to == ConvertTo::kVolume && is_structure_file(request.input);
  const bool tree = to == ConvertTo::kNnunet;
  if (!structures && !(request.like.empty() && (request.classes.empty() || tree)))
    throw Error(ErrorKind::kUsage,
                "[usage] {like} and {classes} are for one DICOM segmentation or RT structure set that "
                "becomes a volume, {classes} also for a tree of studies that becomes an nnU-Net folder; leave them "
                "out");
  if (!tree && !request.id_salt.empty())
    throw Error(ErrorKind::kUsage, "[usage] {id-salt} is for what becomes an nnU-Net folder; leave it out");
  if (!tree && request.keep_names && request.provenance == Provenance::kNone)
    throw Error(ErrorKind::kUsage,
                "[usage] {keep-names} is for {provenance} and for trees of series that become an "
                "nnU-Net folder; leave it out");
  const bool makes_label_map = structures && needs_image_or_classes(request);
  if (request.provenance != Provenance::kNone &&
      (makes_label_map || (to != ConvertTo::kVolume && to != ConvertTo::kNnunet)))
    throw Error(ErrorKind::kUsage,
                "[usage] {provenance} is for a volume that is written as it is, and for {to} nnunet; leave it out");
  if (makes_label_map) return convert_structures(request);
  if (to == ConvertTo::kVolume)
    return convert_volume(
        request.input, request.output,
        formats_within(volume_formats_with(request.irregular), {.least_fraction = request.least_fraction}),
        request.provenance);
  if (to == ConvertTo::kNnunet) return convert_to_nnunet(request, progress);
  if (to == ConvertTo::kClasses) return classes_from_boxes(request, progress);
  return to == ConvertTo::kFolder ? convert_from_records(request, progress) : convert_to_records(request, progress);
}

}  // namespace voxshard
