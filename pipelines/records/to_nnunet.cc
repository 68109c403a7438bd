#include "pipelines/records/to_nnunet.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>

#include "io/datasets/case_ids.h"
#include "io/datasets/case_label.h"
#include "io/datasets/dataset.h"
#include "io/files/channel_address.h"
#include "io/files/content_hash.h"
#include "io/files/file_name.h"
#include "io/output/output_folder.h"
#include "io/volume/archive.h"
#include "libcore/base/parallel.h"
#include "pipelines/records/convert_volume.h"
#include "pipelines/records/from_records.h"
#include "pipelines/records/nnunet_source.h"
#include "pipelines/tasks/segmentation/dataset/hiding_paths.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kNnunetTimes = 3;  // a volume, what reading takes beside it, and its file before compression

struct NnunetTurn {
  const Case* item;
  bool trains;
};

class NnunetFolder {
 public:
  NnunetFolder(const ConvertRequest& request, const SourceDataset& source, const VolumeFormats& formats,
               Progress& progress)
      : request_(request),
        source_(source.dataset),
        names_(source.names),
        formats_(formats),
        progress_(progress),
        folder_(use_of(request, source.dataset)) {
    for (const auto* cases : {&source_.training, &source_.test})
      for (const Case& one : *cases) turns_.push_back({&one, cases == &source_.training});
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
    if (!names_.empty()) write_case_names(request_.output, names_);
  }

  /// Writes a case. Errors: kInput with a code as in CaseFailure; kOutput.
  void convert(const NnunetTurn& turn) {
    const Case& item = *turn.item;
    if (item.images.size() != source_.channels.size())
      throw Error(ErrorKind::kInput, "E_SHAPE",
                  "[convert] " + item.id + " has " + std::to_string(item.images.size()) + " images for " +
                      std::to_string(source_.channels.size()) + " channels; each channel needs one");
    folder_.begin(part_of(turn), files_of(turn));
    Geometry grid;  // of the last channel
    for (std::size_t c = 0; c < item.images.size(); ++c) {
      const fs::path file = request_.output / image_name(turn, c);
      Volume image = read_image(item.images[c], formats_);
      const DiskType type = lossless_type(image);
      write_volume(file, image, type);
      image.voxels = {};
      grid = image.geometry;
      note_source(file, item.images[c], type);
    }
    if (item.has_label()) write_label(turn, grid);
    folder_.commit(part_of(turn), "");
  }
  void drop(const NnunetTurn& turn) { folder_.drop(part_of(turn)); }

  /// Writes dataset.json for the cases that were converted.
  void finish(const std::vector<char>& converted) {
    Dataset set = source_;
    set.folder = request_.output, set.kind = "nnU-Net v2", set.file_ending = ".nii.gz";
    // Turns are the training cases and then the test cases, both in the order of the set.
    const auto keep = [&](std::vector<Case>& cases, std::size_t first) {
      std::vector<Case> kept;
      for (std::size_t i = 0; i < cases.size(); ++i)
        if (converted[first + i] != 0) kept.push_back(std::move(cases[i]));
      cases = std::move(kept);
    };
    keep(set.training, 0), keep(set.test, source_.training.size());
    folder_.begin("dataset.json", {"dataset.json"});
    write_dataset_json(set);
    folder_.commit("dataset.json", "");
  }

 private:
  /// Writes the label map of a case: that of a file as it is, structures on the grid of the image.
  void write_label(const NnunetTurn& turn, const Geometry& grid) const {
    const Case& item = *turn.item;
    const fs::path file = request_.output / label_name(turn);
    const CaseLabel label = read_case_label(item, grid, formats_);
    for (const std::string& note : label.notes) progress_.warn("case " + item.id + ": " + note);
    const DiskType type = lossless_label_type(label.volume);
    write_volume(file, label.volume, type);
    if (item.label) note_source(file, *item.label, type);
  }
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
        for (const fs::path& file : label_files(one)) use.inputs.push_back(containing_file(file));
      }
    return use;
  }
  static std::string part_of(const NnunetTurn& turn) { return (turn.trains ? "training " : "test ") + turn.item->id; }
  static bool lies_in(const NnunetTurn& turn, const std::string& folder) {
    return turn.trains == folder.ends_with("Tr") && (folder.starts_with("images") || turn.item->has_label());
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
    std::set<std::string> all = files;
    if (request_.provenance != Provenance::kNone)
      for (const std::string& file : files) all.insert(provenance_file(file).string());
    if (!turn.item->has_label()) return all;
    all.insert(label_name(turn));
    if (request_.provenance != Provenance::kNone && turn.item->label)
      all.insert(provenance_file(label_name(turn)).string());
    return all;
  }

  const ConvertRequest& request_;
  const Dataset& source_;
  const CaseNames& names_;
  const VolumeFormats& formats_;
  Progress& progress_;
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
  const VolumeFormats formats =
      formats_within(volume_formats_with(request.irregular), {.least_fraction = request.least_fraction});
  const SourceDataset source = read_nnunet_source(request, formats, progress);
  std::vector<CaseFailure> failures;
  for (const CaseProblem& problem : source.dataset.problems)
    failures.push_back({problem.id, problem.code, problem.reason});
  NnunetFolder conversion(request, source, formats, progress);
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
    converted[at] = in_case_boundary(turns[at].item->id, failed[at],
                                     [&] { hiding_paths(*turns[at].item, [&] { conversion.convert(turns[at]); }); });
    if (!converted[at]) conversion.drop(turns[at]);
    progress.update("cases", ++done, total, turns[at].item->id);
  });
  for (auto& list : failed)
    for (CaseFailure& failure : list) failures.push_back(std::move(failure));
  const auto count = std::count(converted.begin(), converted.end(), 1);
  if (count > 0) conversion.finish(converted);
  if (!source.names.empty())
    progress.log((request.output / kCaseNamesFile).string() +
                 ", for its owner's eyes alone, leads from the ids of the cases to their files");
  return convert_report(request, count, "cases", failures, {"info", request.output.string()}, progress);
}

}  // namespace voxshard
