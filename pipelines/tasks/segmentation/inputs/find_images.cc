#include "pipelines/tasks/segmentation/inputs/find_images.h"

#include <algorithm>

#include "pipelines/tasks/volume_files.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

/// The volumes of an input before anything is left out.
VolumeList volumes_of(const fs::path& input, const VolumeFormats& formats, const ImageSearch& search,
                      Progress& progress, FoundImageFiles& found) {
  const VolumeList one{.volumes = {{volume_stem(input, formats).value_or(""), input}}, .left_out = {}, .files = false};
  if (is_volume_address(input, formats)) return one;
  if (!fs::exists(input))
    throw Error(ErrorKind::kInput,
                "[predict] " + input.string() + " does not exist; give an image or a folder of images");
  if (!is_volume_folder(input, formats)) return one;
  std::error_code error;
  const bool below = search.recursive && fs::is_directory(input, error);
  VolumeList list = below ? list_volumes_below(input, formats, found.foreign) : list_volumes(input, formats);
  if (list.files) found.foreign = foreign_beside(list.volumes, input, formats);
  if (!list.left_out.empty()) progress.log("left out: " + list.left_out);
  if (const std::string beside = list.files ? series_beside(input, formats) : ""; !beside.empty())
    progress.warn("left out: " + beside);
  return list;
}

/// find_images() that may leave no image by the rules.
FoundImageFiles search_images(const fs::path& input, const VolumeFormats& formats, const ImageSearch& search,
                              Progress& progress) {
  FoundImageFiles found;
  VolumeList list = volumes_of(input, formats, search, progress, found);
  if (search.rules != nullptr) found.left_alone = leave_by_rules(*search.rules, input, list.volumes, formats);
  if (const std::string text = found.left_alone.text(); !text.empty()) progress.log(text);
  if (search.best_only) found.others = take_other_reconstructions(list.volumes);
  for (const std::string& line : reconstruction_lines(found.others)) progress.log(line);
  for (FoundVolume& volume : list.volumes) found.images.push_back(std::move(volume.path));
  std::ranges::sort(found.images);
  return found;
}

/// Returns what becomes of an entry in which no volume was found: a study without an image is left alone by the rules,
/// one that cannot be read is bad.
EntryImages without_images(const fs::path& entry, const ImageSearch& search, const Error& why) {
  if (search.rules == nullptr) return {};
  const EntryImages bad{.kind = EntryImages::Kind::kBad, .bad = FailureReason{why.code(), why.what()}};
  std::error_code error;
  if (!fs::is_directory(entry, error)) return bad;
  std::shared_ptr<const DicomFolder> study;
  try {
    study = find_dicom_series(entry);
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::kInput) throw;
    return bad;
  }
  if (!study->unreadable.empty())
    return {.kind = EntryImages::Kind::kBad,
            .bad = FailureReason{"E_READ", "the study holds no image that can be read, and " +
                                               std::to_string(study->unreadable.size()) +
                                               " DICOM files that cannot; send it again"}};
  if (study->left_out.empty() && why.kind() != ErrorKind::kInput) return {};
  if (study->left_out.empty()) return bad;
  return {.kind = EntryImages::Kind::kLeftAlone, .found = {.left_alone = {.studies = 1}}};
}

}  // namespace

FoundImageFiles find_images(const fs::path& input, const VolumeFormats& formats, const ImageSearch& search,
                            Progress& progress) {
  FoundImageFiles found = search_images(input, formats, search, progress);
  if (found.images.empty())
    throw Error(ErrorKind::kNoCase, "[predict] the rules choose nothing of " + input.string() + ": " +
                                        found.left_alone.text() + "; give other rules, or leave {rules} out");
  return found;
}

void add_left_out(const FoundImageFiles& found, const ImageSearch& search, PredictReport& report) {
  if (!found.others.empty()) report.found["other_reconstructions"] = reconstructions_json(found.others);
  if (search.rules != nullptr) report.found["left_alone"] = to_json(found.left_alone);
}

EntryImages images_of_entry(const fs::path& entry, const VolumeFormats& formats, const ImageSearch& search,
                            Progress& progress) {
  std::error_code error;
  const bool folder = fs::is_directory(entry, error) || is_volume_folder(entry, formats);
  if (!folder && !volume_stem(entry, formats)) return {};
  try {
    EntryImages images{.kind = EntryImages::Kind::kImages, .found = search_images(entry, formats, search, progress)};
    if (!images.found.images.empty()) return images;
    images.kind = EntryImages::Kind::kLeftAlone, images.found.left_alone.studies = 1;
    return images;
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::kInput && e.kind() != ErrorKind::kNoCase) throw;
    return without_images(entry, search, e);
  }
}

}  // namespace voxshard
