// Images, CT volumes and clips of videos with a class each, as classifiers learn from them and are scored on, in a data
// set of any kind of class_kind.h.
//
//   ClassSets sets = read_class_sets({.data = "cells", .reading = {.items = ItemKind::kImage}});
//   sets.train.classes;                                       // {"platelet", "red", "white"}
//   ClassDataset unseen = read_unseen_classes("cells", {});   // cells/test, else cells/val, else all of it
//
// Called by train, predict, evaluate and info.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/datasets/dataset.h"
#include "io/image/image.h"
#include "io/volume/volume.h"
#include "pipelines/engine/case_hashes.h"
#include "pipelines/engine/requests.h"
#include "pipelines/tasks/classification/dataset/class_kind.h"
#include "pipelines/tasks/classification/dataset/item_kind.h"

namespace voxshard {

struct VideoScan;

/// Scores hold a number for each pair of classes.
inline constexpr std::size_t kMostClasses = 4096;

struct ClassItem {
  std::string name;            // relative to the data set: "red/0017.png"; for IDX the number from 0, "00017"; for a
                               // clip the video and its frames, "left/0017.mp4#frames=16:32"
  std::filesystem::path file;  // image, volume or video; the IDX file of images
  std::int64_t index = 0;      // of an IDX image; for a clip its first frame
  std::int32_t label = -1;     // index of the class; -1: unknown
  Dims size;                   // H W, for a volume D H W in LPS, for a clip T H W
  bool colour = false;
  std::shared_ptr<const VideoScan> scan = {};  // for a clip: the scan of its video, which all its clips share
  // for a clip: the first and the last frame with which it may begin in its video, or in the interval of its label
  std::int64_t least_first = 0, most_first = 0;
};

struct ClassDataset {
  std::filesystem::path source;
  std::string kind;                          // the name of its ClassKind
  std::vector<std::string> classes;          // sorted by name; for IDX by number
  std::vector<ClassItem> items;              // sorted by name
  std::vector<CaseFailure> failures;         // items that are left out, with the reason
  std::shared_ptr<const Tensor> pixels;      // for a kind that keeps them in memory, such as IDX: (N, H, W) u8
  std::vector<std::filesystem::path> files;  // for such a kind: the files of images and labels
  std::vector<std::string> notes = {};       // what is worth saying about it

  /// Returns the number of items of each class.
  std::vector<std::int64_t> counts() const;
};

/// Returns the kind of items in a part for a model with `axes` spatial axes. 2: images; 3: clips if there are videos,
/// else volumes; 0 (any model): images if there is one, else as for 3. Errors: kInput for videos and volumes side by
/// side; as read_class_list.
ItemKind kind_of_part(const ClassPart& part, int axes);

struct ClassReading {
  ItemKind items = ItemKind::kImage;  // images and IDX; .nii and .nii.gz; videos
  // for clips: number of frames, and distance between them in the video
  std::int64_t clip_length = 16, clip_stride = 1;
  std::int64_t most_pixels = kMostPixels;
  VolumeFormats formats = volume_formats();
  ClassKinds kinds = class_kinds();
  bool best_series = true;  // of several reconstructions of a scan only the one that stands for it
};

/// Reads one part; for videos, every clip that ClipFinder finds is an item. With `classes`, these and their order are
/// used, and items of other classes are left out with E_CLASS; else the classes are those that have an item, and a
/// folder without items is left out with E_EMPTY. Errors: kInput for lists and IDX files that cannot be read; kNoCase
/// when no item can be used.   Cost: reads the header of each item, the packets of videos, and all pixels of IDX.
ClassDataset read_class_part(const ClassPart& part, const ClassReading& reading,
                             const std::vector<std::string>* classes = nullptr);

/// Returns the files of a part whose items are files, by their names in it, usable or not: none is opened.
///   failures  invalid entries of the part are added to it
/// Errors: kInput as read_class_part.
std::map<std::string, std::filesystem::path> class_files(const ClassPart& part, const ClassReading& reading,
                                                         std::vector<CaseFailure>& failures);

struct ClassSets {
  ClassDataset train, val;        // with equal classes
  bool val_is_test = false;       // true: validation uses the test part, because the data have no other part for it
  std::vector<Split> folds = {};  // all folds, by the names of the items, where one was named
  std::string said = {};          // then a sentence on it
};

struct ClassSetsOptions {
  std::filesystem::path data;
  // the validation data, anything that find_class_parts takes; empty: the data's own part, else a share
  std::filesystem::path val;
  // share of each class (for clips, of its videos) when there is no validation part; 0: no validation
  double val_fraction = 0.2;
  bool validates = true;  // false: no validation, and the data's own validation part is not trained on either
  std::uint64_t seed = 0;
  ClassReading reading = {};
  std::string fold = {};             // "0": that fold of the training part validates, whatever part is for validation
  std::vector<KeptSplit> kept = {};  // by the names of the items, instead of a share; with a fold one for each of them
};

/// Reads the training and validation sets. Errors: as read_class_part; kInput for a path that is no such data set;
/// kConfig for fewer than two classes, a fraction outside [0, 1), or a fold that is not there; kUsage for a fold beside
/// `val`.
ClassSets read_class_sets(const ClassSetsOptions& options);

std::vector<std::string> names_of(const ClassDataset& set);
/// Adds items that a run started with and that no longer exist to the failures of `train`, each once.
void list_gone(ClassSets& sets, const KeptSplit& kept);

/// Leaves out classes without a training item, with E_EMPTY, and their validation items, with E_CLASS; the other
/// classes are renumbered. Errors: kConfig when fewer than two are left.
void leave_out_empty_classes(ClassSets& sets);

/// Returns the part that a model has not been trained on, by the layout of the data: the test part, else the validation
/// part, else all. Errors: kInput for a path that is no such data set.
ClassPart unseen_part(const std::filesystem::path& path, const ClassKinds& kinds = class_kinds());

/// Reads that part.
///   classes  as in read_class_part
ClassDataset read_unseen_classes(const std::filesystem::path& path, const ClassReading& reading,
                                 const std::vector<std::string>* classes = nullptr);

/// Moves a share of each class to validation, at least one item of a class that has two, drawn by the seed and the
/// items' names. Clips of one video stay together, and so do crops that `convert` cut out of one image (crop_name.h),
/// because they look alike: the share is one of videos or images. A video or image is not held out when one of its
/// classes would be left without another to train on.
ClassSets split_classes(ClassDataset dataset, double val_fraction, std::uint64_t seed);

/// Splits by folds, to which the videos and images of each class are dealt in turn, whatever the seed. Clips of one
/// video and crops of one image stand in one fold.
///   kept  of a run that started before: one for each fold, whose items stay where they were; empty: none
/// Errors: kConfig for a fold that is not there, and for data that are of one video or image.
ClassSets split_by_fold(ClassDataset dataset, const std::string& fold, const std::vector<KeptSplit>& kept = {});

/// Reads the header of an image or volume. Errors: kInput.
ClassItem read_class_item(const std::filesystem::path& file, const ClassReading& reading);

/// Returns the DICOM series in a folder and the folders in it, and the volumes of the archives there, or those of an
/// archive; none where files of the folder are volumes by their names. Notes say what is left out. Errors: kInput.
std::vector<FoundVolume> scans_below(const std::filesystem::path& folder, const ClassReading& reading,
                                     std::vector<std::string>& notes);

/// Returns the files of an item, for a volume its header file too, with the hashes of those that may be gone: files of
/// an archive. Errors: kInput.
VolumeFiles files_of_item(const ClassItem& item, ItemKind kind);
/// Returns the same for comparing contents.
HashedCase hashed_item(const ClassItem& item, ItemKind kind, const std::string& name);
/// Returns the archive that a volume lies in; none for others.
std::optional<std::filesystem::path> archive_of_item(const ClassItem& item);
/// Returns a hash of the pixels of an IDX image, which recognises it in other files too.
std::string pixels_key(const ClassDataset& set, const ClassItem& item);

/// Functions for kinds of data sets: the first returns the number of a class, if `classes` has it; the second adds the
/// failure of an item whose class is not among them.
std::optional<std::int32_t> label_of(const std::vector<std::string>& classes, const std::string& name);
void fail_class(ClassDataset& set, const std::string& item, const std::string& class_name);

/// True when a file's name is that of an item: an image, a volume, or a video.
bool is_class_item(const std::filesystem::path& file, const ClassReading& reading);

}  // namespace voxshard
