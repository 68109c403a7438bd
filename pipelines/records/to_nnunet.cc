#include "pipelines/records/to_nnunet.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>

#include "io/datasets/dataset.h"
#include "io/files/channel_address.h"
#include "io/files/content_hash.h"
#include "io/files/file_name.h"
#include "io/files/output_folder.h"
#include "libcore/base/parallel.h"
#include "libcore/base/plain_text.h"
#include "pipelines/records/convert_volume.h"
#include "pipelines/records/from_records.h"
#include "pipelines/tasks/volume_files.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kNnunetTimes = 3;  // a volume, what reading takes beside it, and its file before compression

/// Returns the channel of the images of a folder or an archive: the modality of its DICOM series, which their ids begin
/// with; CT where files do not say it.
std::string modality_of(const VolumeList& images, const ConvertRequest& request, Progress& progress) {
  const bool in_archive =
      std::ranges::any_of(images.volumes, [](const FoundVolume& image) { return image.id.starts_with("volume_"); });
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
Dataset folder_of_volumes(const ConvertRequest& request, const VolumeFormats& formats, Progress& progress) {
  const VolumeList images = list_volumes(request.input, formats);
  if (!images.left_out.empty()) progress.log("left out: " + images.left_out);
  if (const std::string beside = images.files ? series_beside(request.input, formats) : ""; !beside.empty())
    progress.warn("left out: " + beside);
  Dataset set{
      .name = plain_text(fs::absolute(request.input / "x").parent_path().lexically_normal().filename().string()),
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
  const auto doubled = [&](const FoundVolume& one) {
    return std::ranges::count(images.volumes, one.id, &FoundVolume::id) > 1;
  };
  for (const FoundVolume& image : images.volumes) {
    const std::string id = suffixed ? channel_of_stem(image.id)->id : image.id;
    if (doubled(image))
      set.problems.push_back({shown_name(id), "E_DUPLICATE", "several files have this name; rename them"});
    else
      set.test.push_back({.id = id, .images = {image.path}, .label = {}});
  }
  return set;
}

struct NnunetTurn {
  const Case* item;
  bool trains;
};

class NnunetFolder {
 public:
  NnunetFolder(const ConvertRequest& request, const Dataset& source, const VolumeFormats& formats)
      : request_(request), source_(source), formats_(formats), folder_(use_of(request, source)) {
    for (const auto* cases : {&source.training, &source.test})
      for (const Case& one : *cases) turns_.push_back({&one, cases == &source.training});
  }

  const std::vector<NnunetTurn>& turns() const { return turns_; }

  void start() {
    std::set<std::string> parts = {"dataset.json"};
    for (const NnunetTurn& turn : turns_) parts.insert(part_of(turn));
    folder_.start(
        {.options = content_hash("nnunet " + std::to_string(static_cast<int>(request_.provenance))), .parts = parts});
    for (const char* name : {"imagesTr", "labelsTr", "imagesTs", "labelsTs"})
      if (std::any_of(turns_.begin(), turns_.end(), [&](const NnunetTurn& turn) { return lies_in(turn, name); }))
        make_output_folder(request_.output / name);
  }

  /// Writes a case. Errors: kInput with a code as in CaseFailure; kOutput.
  void convert(const NnunetTurn& turn) {
    const Case& item = *turn.item;
    if (item.images.size() != source_.channels.size())
      throw Error(ErrorKind::kInput, "E_SHAPE",
                  "[convert] " + item.id + " has " + std::to_string(item.images.size()) + " images for " +
                      std::to_string(source_.channels.size()) + " channels; each channel needs one");
    folder_.begin(part_of(turn), files_of(turn));
    for (std::size_t c = 0; c < item.images.size(); ++c) {
      const fs::path file = request_.output / image_name(turn, c);
      Volume image = read_image(item.images[c], formats_);
      const DiskType type = lossless_type(image);
      write_volume(file, image, type);
      image.voxels = {};
      note_source(file, item.images[c], type);
    }
    if (item.label) {
      const fs::path file = request_.output / label_name(turn);
      const Volume label = read_label(*item.label, formats_);
      const DiskType type = lossless_label_type(label);
      write_volume(file, label, type);
      note_source(file, *item.label, type);
    }
    folder_.commit(part_of(turn), "");
  }
  void drop(const NnunetTurn& turn) { folder_.drop(part_of(turn)); }

  /// Writes dataset.json for the cases that were converted.
  void finish(const std::vector<char>& converted) {
    Dataset set = source_;
    set.folder = request_.output, set.kind = "nnU-Net v2", set.file_ending = ".nii.gz";
    const auto keep = [&](std::vector<Case>& cases, bool trains) {
      std::erase_if(cases, [&](const Case& one) {
        for (std::size_t i = 0; i < turns_.size(); ++i)
          if (turns_[i].trains == trains && turns_[i].item->id == one.id) return converted[i] == 0;
        return true;
      });
    };
    keep(set.training, true), keep(set.test, false);
    folder_.begin("dataset.json", {"dataset.json"});
    write_dataset_json(set);
    folder_.commit("dataset.json", "");
  }

 private:
  void note_source(const fs::path& file, const fs::path& source, DiskType type) const {
    if (request_.provenance == Provenance::kNone) return;
    write_provenance(file, source, read_volume_info(source, formats_), type, request_.provenance, formats_);
  }
  static FolderUse use_of(const ConvertRequest& request, const Dataset& source) {
    FolderUse use{.folder = request.output, .command = "convert", .inputs = {request.input}};
    for (const auto* cases : {&source.training, &source.test})
      for (const Case& one : *cases) {
        for (const fs::path& image : one.images)
          if (!is_volume_address(image)) use.inputs.push_back(file_of_channel(image));
        if (one.label) use.inputs.push_back(*one.label);
      }
    return use;
  }
  static std::string part_of(const NnunetTurn& turn) { return (turn.trains ? "training " : "test ") + turn.item->id; }
  static bool lies_in(const NnunetTurn& turn, const std::string& folder) {
    return turn.trains == folder.ends_with("Tr") && (folder.starts_with("images") || turn.item->label.has_value());
  }
  static std::string image_name(const NnunetTurn& turn, std::size_t channel) {
    return named_file(turn.trains ? "imagesTr" : "imagesTs", turn.item->id + channel_suffix(channel), ".nii.gz")
        .string();
  }
  static std::string label_name(const NnunetTurn& turn) {
    return named_file(turn.trains ? "labelsTr" : "labelsTs", turn.item->id, ".nii.gz").string();
  }
  std::set<std::string> files_of(const NnunetTurn& turn) const {
    std::set<std::string> files;
    for (std::size_t c = 0; c < turn.item->images.size(); ++c) files.insert(image_name(turn, c));
    if (turn.item->label) files.insert(label_name(turn));
    if (request_.provenance == Provenance::kNone) return files;
    std::set<std::string> all = files;
    for (const std::string& file : files) all.insert(provenance_file(file).string());
    return all;
  }

  const ConvertRequest& request_;
  const Dataset& source_;
  const VolumeFormats& formats_;
  OutputFolder folder_;
  std::vector<NnunetTurn> turns_;
};

/// Returns the bytes of the largest image as f32.
std::int64_t largest_image_bytes(const std::vector<NnunetTurn>& turns, const VolumeFormats& formats) {
  std::int64_t bytes = 0;
  std::vector<CaseFailure> ignored;
  for (const NnunetTurn& turn : turns)
    in_case_boundary(turn.item->id, ignored, [&] {
      for (const fs::path& image : turn.item->images)
        bytes = std::max(bytes, 4 * voxels_of(read_volume_info(image, formats).geometry));
    });
  return bytes;
}

}  // namespace

TaskReport convert_to_nnunet(const ConvertRequest& request, Progress& progress) {
  const VolumeFormats formats = volume_formats_with(request.irregular);
  std::error_code error;
  const bool described = fs::exists(request.input / "dataset.json", error);
  const Dataset source = described ? read_dataset(request.input) : folder_of_volumes(request, formats, progress);
  std::vector<CaseFailure> failures;
  for (const CaseProblem& problem : source.problems) failures.push_back({problem.id, problem.code, problem.reason});
  NnunetFolder conversion(request, source, formats);
  conversion.start();
  const std::vector<NnunetTurn>& turns = conversion.turns();
  std::vector<char> converted(turns.size(), 0);
  std::vector<std::vector<CaseFailure>> failed(turns.size());
  std::atomic<std::int64_t> done{0};
  WorkerPool pool(side_by_side(largest_image_bytes(turns, formats), kNnunetTimes, request.threads).workers);
  const auto total = static_cast<std::int64_t>(turns.size());
  progress.update("cases", 0, total, "");
  pool.run(total, [&](std::int64_t i, int) {
    throw_if_stopped(progress);
    const auto at = static_cast<std::size_t>(i);
    converted[at] = in_case_boundary(turns[at].item->id, failed[at], [&] { conversion.convert(turns[at]); });
    if (!converted[at]) conversion.drop(turns[at]);
    progress.update("cases", ++done, total, turns[at].item->id);
  });
  for (auto& list : failed)
    for (CaseFailure& failure : list) failures.push_back(std::move(failure));
  const auto count = std::count(converted.begin(), converted.end(), 1);
  if (count > 0) conversion.finish(converted);
  return convert_report(request, count, "cases", failures, {"info", request.output.string()}, progress);
}

}  // namespace voxshard
