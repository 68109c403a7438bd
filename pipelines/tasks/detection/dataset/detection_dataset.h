// Images and boxes that detectors learn from and are scored on, in any format of io/boxes/box_format.h: found, checked
// and split.
//
//   DetectionSets sets = read_detection_sets({.data = "bccd/coco_train.json", .val = "bccd/coco_val.json"});
//   DetectionDataset truth = read_detection_dataset("bccd/coco_test.json", DetectionUse::kScoring);
//   Tensor pixels = read_rgb(sets.train.images[0].file);
//
// Called by train, predict, evaluate and info. The types are in io/boxes/detection_annotations.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "io/boxes/box_format.h"
#include "io/boxes/detection_annotations.h"
#include "io/datasets/dataset.h"
#include "io/image/image.h"
#include "io/video/select.h"
#include "pipelines/engine/requests.h"

namespace voxshard {

enum class DetectionUse : std::uint8_t {
  kTraining,  // images without a file or a whole header are left out; boxes are clipped to the image, those without
              // area left out
  kScoring,   // boxes stay as written, as pycocotools takes them; images need not exist
};

/// Reads annotations of one of the formats, or a folder that holds exactly one. Images whose place the format does not
/// define lie beside the file, or in images/, JPEGImages/, the folder above, or a folder named after the
/// file (instances_train2017.json: train2017/). An image may be a frame of a video (io/image/image.h,
/// io/boxes/coco_frames.h). Errors: kInput for a missing path, a file that is not such JSON, or a folder with none or
/// several of these; kNoCase when no image is usable. Entries that cannot be used are in `notes`.   Cost: reads the
/// header of each image for kTraining.
DetectionDataset read_detection_dataset(const std::filesystem::path& path, DetectionUse use = DetectionUse::kTraining,
                                        std::int64_t most_pixels = kMostPixels,
                                        const BoxFormats& formats = box_formats());

/// Returns the *val*.json of a folder with several annotation files; else the path itself.
std::filesystem::path unseen_annotations(const std::filesystem::path& path, const BoxFormats& formats = box_formats());

struct DetectionSets {
  DetectionDataset train, val;    // with equal classes
  std::vector<Split> folds = {};  // all folds, by the names of the files, where one was named
  std::string said = {};          // then a sentence on it
};

struct DetectionSetsOptions {
  std::filesystem::path data;
  std::filesystem::path val;  // empty: FOLDER's own *val*.json beside *train*.json, else a part of `data`
  double val_fraction = 0.2;  // share of `data`, when nothing names the validation images; 0: none
  std::uint64_t seed = 0;
  std::optional<FrameSelection> frames;    // for `data` whose images are frames of videos
  std::int64_t most_pixels = kMostPixels;  // of an image or frame; larger ones are left out with E_SIZE
  // "0": that fold of the training images, of a folder with lists those of its list train, validates, whatever else
  // would
  std::string fold = {};
  std::vector<KeptSplit> kept = {};  // by the names of the files, instead of a share of `data`; one for each fold
  BoxFormats formats = box_formats();
};

/// Reads the training and validation sets. A training image that is also a validation image is left out with
/// E_DUPLICATE, as is an image that two entries name. Errors: as read_detection_dataset; kNoCase when no image is left
/// to train; kConfig when `val` has a class that `data` has not, for a fraction outside [0, 1), or a fold that is not
/// there; kUsage for a fold beside `val`.
DetectionSets read_detection_sets(const DetectionSetsOptions& options);

/// Moves a share of the images to validation, at least one when the fraction is above 0 and there are two; the rest
/// trains. Images of one sequence stay together, where there are several sequences. The same seed gives the same
/// images, whatever their order in the file. Notes stay with `train`. (Frames of videos are split by time instead, see
/// pipelines/tasks/detection/dataset/video_dataset.h.)
DetectionSets split_detection_dataset(DetectionDataset dataset, double val_fraction, std::uint64_t seed);

/// Returns the boxes as average_precision takes them; `image` is an index into dataset.images.
std::vector<TrueBox> true_boxes(const DetectionDataset& dataset);

/// Renumbers the categories of the boxes as in `classes`: by id and name where one has both, else by name alone.
/// Returns the name of the first class that is none of these, where all stay as they are.
std::optional<std::string> number_as(const std::vector<DetectionClass>& classes, DetectionDataset& dataset);

/// Converts the notes on entries that were left out to failures of a run, for quarantine.csv and --json.
std::vector<CaseFailure> note_failures(const std::vector<EntryNote>& notes);
/// Returns a sentence for each code of entries that were kept though something is wrong with them: how many, and what
/// of the first.
std::vector<std::string> mended_texts(const std::vector<EntryNote>& notes);
/// The sentence on images that have another size than their entries, whose boxes may be of another scale; none when all
/// have theirs.
std::vector<std::string> size_warnings(const std::vector<EntryNote>& notes);

}  // namespace voxshard
