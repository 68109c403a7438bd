#include "pipelines/commands/data_formats.h"

#include "io/boxes/box_format.h"
#include "io/image/image_formats.h"
#include "io/video/video_endings.h"
#include "io/volume/volume.h"
#include "libcore/base/text.h"
#include "pipelines/tasks/classification/dataset/class_kind.h"

namespace voxshard {
namespace {

/// Returns the endings that are not empty: ".png", or ".jpg, .jpeg".
template <class Endings>
std::string endings_text(const Endings& endings) {
  std::vector<std::string> texts;
  for (const std::string_view ending : endings)
    if (!ending.empty()) texts.emplace_back(ending);
  return joined(texts, ", ");
}

}  // namespace

std::vector<DataFormat> data_formats() {
  std::vector<DataFormat> rows;
  for (const VolumeFormat& format : volume_formats().rows)
    rows.push_back({"volumes", format.name, format.expected, endings_text(format.endings)});
  rows.push_back({"labels", "RT-STRUCT", "contours of a DICOM RT structure set, on the voxels of their image", ""});
  for (const ImageFileFormat& format : kImageFileFormats)
    rows.push_back({"pictures", format.name, endings_text(format.endings), endings_text(format.endings)});
  for (const BoxFormat& format : box_formats()) rows.push_back({"boxes", format.name, format.expected, ""});
  for (const ClassKind& kind : class_kinds()) rows.push_back({"classes", kind.name, kind.expected, ""});
  rows.push_back({"videos", "FFmpeg", endings_text(kVideoEndings), endings_text(kWrittenVideoEndings)});
  return rows;
}

}  // namespace voxshard
