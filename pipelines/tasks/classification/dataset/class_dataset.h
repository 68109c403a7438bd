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

#include "io/image/image.h"
#include "io/volume/volume.h"
#include "pipelines/engine/requests.h"
#include "pipelines/tasks/classification/dataset/class_kind.h"
#include "pipelines/tasks/classification/dataset/item_kind.h"

namespace voxshard {

struct VideoScan;

/// Scores hold a number for each pair of classes.
inline constexpr std::size_t kMostClasses = 4096;

struct ClassItem {
  std::string name;            // below the data set: "red/0017.png"; of IDX the number from 0, "00017"; of a
                               // clip the video and its frames, "left/0017.mp4#frames=16:32"
  std::filesystem::path file;  // image, volume or video; the IDX file of images
  std::int64_t index = 0;      // of an IDX image; of a clip its first frame
  std::int32_t label = -1;     // into the classes; -1: not known
  Dims size;                   // H W, of a volume D H W in LPS, of a clip T H W
  bool colour = false;
  std::shared_ptr<const VideoScan> scan = {};  // of a clip: its video's, which all its clips share
};

struct ClassDataset {
  std::filesystem::path source;
  std::string kind;                          // the name of its ClassKind
  std::vector<std::string> classes;          // by name; of IDX by number
  std::vector<ClassItem> items;              // by name
  std::vector<CaseFailure> failures;         // what is left out, and why
  std::shared_ptr<const Tensor> pixels;      // of a kind that holds them, as IDX: (N, H, W) u8
  std::vector<std::filesystem::path> files;  // of such a kind: images and labels

  /// Of every class how many items there are.
  std::vector<std::int64_t> counts() const;
};

/// What a part holds of what a model over so many axes sees: images with 2; with 3 clips where there are videos, else
/// volumes; with 0 (any model) images where there is one, else as with 3. Errors: kInput for videos and volumes side
/// by side; as read_class_list.
ItemKind kind_of_part(const ClassPart& part, int axes);

struct ClassReading {
  ItemKind items = ItemKind::kImage;               // images and IDX; .nii and .nii.gz; videos
  std::int64_t clip_length = 16, clip_stride = 1;  // of clips: frames, of every so many of the video
  std::int64_t most_pixels = kMostPixels;
  VolumeFormats formats = volume_formats();
  ClassKinds kinds = class_kinds();
};

/// One part; of a video every clip that ClipFinder finds is an item. With `classes` their order holds, and items of
/// others are left out with E_CLASS; else the classes are those that have an item, and a folder without one is left out
/// with E_EMPTY. Errors: kInput for lists and IDX files that cannot be read; kNoCase when no item can be used.   Cost:
/// a header of each item, of videos the packets; all pixels of IDX.
ClassDataset read_class_part(const ClassPart& part, const ClassReading& reading,
                             const std::vector<std::string>* classes = nullptr);

/// The files of a part whose items are files, by their names in it, whether they can be used or not: none is opened.
///   failures  to these is added what the part says wrongly
/// Errors: kInput as read_class_part.
std::map<std::string, std::filesystem::path> class_files(const ClassPart& part, const ClassReading& reading,
                                                         std::vector<CaseFailure>& failures);

struct ClassSets {
  ClassDataset train, val;   // of equal classes
  bool val_is_test = false;  // since the data have no other part that could validate
};

struct ClassSetsOptions {
  std::filesystem::path data;
  std::filesystem::path
      val;  // the part that validates, whatever find_class_parts takes; empty: the data's own, else a share
  double val_fraction =
      0.2;  // of each class, of clips of its videos, of `data`, where nothing else validates; 0: nothing validates
  bool validates = true;  // false: nothing does, and a part of the data's own that would is not trained on
  std::uint64_t seed = 0;
  ClassReading reading = {};
  std::optional<KeptSplit> kept = {};  // by the names of the items, in place of a share
};

/// Errors: as read_class_part; kInput for a path that is no such data set; kConfig for fewer than two classes, or a
/// fraction outside of [0, 1).
ClassSets read_class_sets(const ClassSetsOptions& options);

std::vector<std::string> names_of(const ClassDataset& set);
/// What a run began with and has no more joins the failures of `train`, each once.
void list_gone(ClassSets& sets, const KeptSplit& kept);

/// Classes of which no item is left to train are left out with E_EMPTY, what validates of them with E_CLASS; the others
/// get their numbers anew. Errors: kConfig for fewer than two that are left.
void leave_out_empty_classes(ClassSets& sets);

/// The part that a model did not learn from, as far as the data say: the one for tests, else the one that validates,
/// else all. Errors: kInput for a path that is no such data set.
ClassPart unseen_part(const std::filesystem::path& path, const ClassKinds& kinds = class_kinds());

/// What is in it.
///   classes  as in read_class_part
ClassDataset read_unseen_classes(const std::filesystem::path& path, const ClassReading& reading,
                                 const std::vector<std::string>* classes = nullptr);

/// A share of each class for validation, at least one item of a class that has two, drawn by the seed and the items'
/// names. Of clips a share of the videos, each with all its clips, and of what `convert` cut out of images
/// (crop_name.h) a share of these: what is of one image looks alike. None is held out that would leave one of its
/// classes without another to train on.
ClassSets split_classes(ClassDataset dataset, double val_fraction, std::uint64_t seed);

/// The header of an image or volume. Errors: kInput.
ClassItem read_class_item(const std::filesystem::path& file, const ClassReading& reading);

/// The files that hold an item: of a volume its header's too.
std::vector<std::filesystem::path> files_of_item(const ClassItem& item, ItemKind kind);
/// Of an IDX image a hash of its pixels, by which it is known in another file too.
std::string pixels_key(const ClassDataset& set, const ClassItem& item);

/// For kinds of data sets: the number of a class, if `classes` has it; and what says that an item is of none.
std::optional<std::int32_t> label_of(const std::vector<std::string>& classes, const std::string& name);
void fail_class(ClassDataset& set, const std::string& item, const std::string& class_name);

/// Whether a file's name is that of an item: an image, a volume, or a video.
bool is_class_item(const std::filesystem::path& file, const ClassReading& reading);

}  // namespace voxshard
