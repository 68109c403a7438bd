#include "pipelines/records/nnunet_source.h"

#include <algorithm>
#include <map>
#include <set>

#include "io/datasets/annotated.h"
#include "io/datasets/study_tree.h"
#include "io/files/channel_address.h"
#include "io/files/file_error.h"
#include "io/files/file_name.h"
#include "libcore/base/plain_text.h"
#include "pipelines/tasks/volume_files.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

/// Returns the channel of the images of a folder or an archive: the modality of its DICOM series, which their ids begin
/// with; CT where files do not say it.
std::string modality_of(const VolumeList& images, const ConvertRequest& request, Progress& progress) {
  const bool in_archive = std::ranges::any_of(images.volumes, [](const FoundVolume& image) {
    return image.id.starts_with("volume_") || image.id.starts_with("archive_");
  });
  if (images.files || in_archive) {
    progress.log("the channel is called CT; change channel_names in dataset.json for another modality");
    return "CT";
  }
  std::set<std::string> modalities;
  for (const FoundVolume& image : images.volumes) modalities.insert(image.id.substr(0, image.id.find('_')));
  if (modalities.size() > 1)
    throw input_error(request.input, "holds series of " + std::to_string(modalities.size()) + " modalities",
                      "convert the folder of each modality by itself");
  std::string name = plain_text(*modalities.begin());
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return name;
}

/// Returns the volumes of a folder as test cases of a set without classes; nnU-Net's "_0000" is removed where all files
/// have it. Files of one name are all left out.
Dataset test_cases_of(const VolumeList& images, const ConvertRequest& request, Progress& progress) {
  Dataset set{
      .name = images.files
                  ? plain_text(fs::absolute(request.input / "x").parent_path().lexically_normal().filename().string())
                  : "studies",  // a folder of series may be named after a patient
      .folder = request.input,
      .channels = {modality_of(images, request, progress)},
      .label_names = {"background", "foreground"},
      .training = {},
      .test = {},
      .problems = {},
      .kind = "volumes"};
  const bool suffixed = images.files && std::ranges::all_of(images.volumes, [](const FoundVolume& image) {
                          const auto stem = channel_of_stem(image.id);
                          return stem.has_value() && stem->channel == 0;
                        });
  std::map<std::string, std::size_t> count;
  for (const FoundVolume& image : images.volumes) ++count[image.id];
  for (const FoundVolume& image : images.volumes) {
    const std::string id = suffixed ? channel_of_stem(image.id)->id : image.id;
    if (count[image.id] > 1)
      set.problems.push_back({shown_name(id), "E_DUPLICATE", "several files have this name; rename them"});
    else
      set.test.push_back({.id = id, .images = {image.path}, .label = {}});
  }
  return set;
}

/// Returns a folder of volumes as test cases: files keep their names, series get ids as in a tree of studies.
SourceDataset folder_of_volumes(const ConvertRequest& request, const DatasetSource& source,
                                const VolumeFormats& formats, Progress& progress) {
  VolumeList images = list_volumes(request.input, formats);
  if (request.best_series)
    for (const std::string& line : reconstruction_lines(take_other_reconstructions(images.volumes))) progress.log(line);
  if (!images.left_out.empty()) progress.log("left out: " + images.left_out);
  if (const std::string beside = images.files ? series_beside(request.input, formats) : ""; !beside.empty())
    progress.warn("left out: " + beside);
  Dataset set = test_cases_of(images, request, progress);
  if (!images.files && source.keep_names) {
    std::swap(set.training, set.test);
    name_by_folders(set);
    std::swap(set.training, set.test);
  }
  return with_ids(std::move(set), !images.files, source, request.output, progress);
}

/// Says which classes are not annotated everywhere, and what nnU-Net makes of that.
void say_coverage(const Dataset& set, Progress& progress) {
  for (int label = 1; label < std::ssize(set.label_names); ++label) {
    const auto with =
        std::ranges::count_if(set.training, [&](const Case& item) { return is_annotated(item.annotated, label); });
    if (with == std::ssize(set.training)) continue;
    progress.warn(shown_name(set.label_names[label]) + ": in " + std::to_string(with) + " of " +
                  std::to_string(set.training.size()) +
                  " cases; dataset.json says in which, under \"annotated\", which nnU-Net itself does not read: it "
                  "takes the class for absent in the others");
  }
}

}  // namespace

SourceDataset read_nnunet_source(const ConvertRequest& request, const VolumeFormats& formats, Progress& progress) {
  const DatasetSource source{.folder = request.input,
                             .classes = request.classes,
                             .id_salt = request.id_salt,
                             .keep_names = request.keep_names};
  if (!request.classes.empty() && !is_study_tree(request.input))
    throw Error(ErrorKind::kUsage, "[usage] {classes} maps names of structures in a tree of DICOM studies, and " +
                                       request.input.string() + " is none; leave it out");
  if (!request.classes.empty()) {
    SourceDataset found = read_studies(source, request.output, formats, progress);
    say_coverage(found.dataset, progress);
    return found;
  }
  std::error_code error;
  SourceDataset found =
      fs::exists(request.input / "dataset.json", error)
          ? with_ids(read_dataset(request.input, ids_in_errors(source)), false, source, request.output, progress)
          : folder_of_volumes(request, source, formats, progress);
  if (request.keep_names && request.provenance == Provenance::kNone && !found.folders_of_names)
    throw Error(ErrorKind::kUsage,
                "[usage] {keep-names} is for {provenance} and for trees of DICOM series: these cases have the names of "
                "their files; leave it out");
  return found;
}

}  // namespace voxshard
