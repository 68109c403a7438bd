// The preparation of an image, a volume or a clip for a classifier, the same in training and prediction; a part of each
// checkpoint.
//
//   ItemReader reader(preparation, limits);
//   Tensor sample = reader.read(item, set.pixels.get());      // (H, W, C) f32, normalised
//   place_sample(sample, 0, box);                             // zeros beyond it
#pragma once

#include <array>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "libcore/models/model.h"
#include "libcore/tensor/tensor.h"
#include "pipelines/tasks/augmentation/colour_change.h"
#include "pipelines/tasks/classification/dataset/class_dataset.h"

namespace voxshard {

struct ClassPreparation {
  std::vector<std::string> classes;
  ItemKind items = ItemKind::kImage;
  // for clips: number of frames, and distance between them in the video
  std::int64_t clip_length = 16, clip_stride = 1;
  std::int64_t channels = 1;                        // 1: grey, 3: colour
  std::vector<double> mean = {0}, deviation = {1};  // per channel, of intensities scaled to 0..1
  std::array<double, 2> window_hu = {-160, 240};    // for volumes: mapped to 0 and 1, values beyond are clipped
  Dims size;              // H W, D H W or T H W (T is clip_length) of every sample; empty: its own size
  bool resizes = false;   // true: items are resized to `size`; false: smaller ones are padded, larger ones refused
  bool enlarges = false;  // true: an item that is smaller by one integer factor on all axes is first enlarged by it
  std::int64_t pad_multiple = 1;  // own sizes: extents are rounded up to it, so that plans are reused

  int axes() const { return items == ItemKind::kImage ? 2 : 3; }
};

nlohmann::ordered_json to_json(const ClassPreparation& preparation);
/// Parses a preparation. Errors: kCheckpoint names the missing or wrong entry.
ClassPreparation class_preparation_from_json(const nlohmann::json& json);

/// Returns the extents at which the model gets an item. Errors: kInput E_SIZE for an item that is too large.
Dims canvas_of(const ClassItem& item, const ClassPreparation& preparation);

/// Converts an image to the channels of the model.
///   rgb  (H, W, 3) f32, 0 to 1
///   returns  (H, W, C) f32
Tensor image_intensities(Tensor rgb, const ClassPreparation& preparation);
/// Resizes an image (H, W, C) to the H and W of the samples, if samples are resized.
Tensor at_size(Tensor image, const ClassPreparation& preparation);
/// Subtracts the mean and divides by the deviation, channel by channel.
///   sample  (.., C) f32
void normalise(Tensor& sample, const ClassPreparation& preparation);

/// Reads items of a data set as samples. Threads: any number at once.
class ItemReader {
 public:
  ItemReader(const ClassPreparation& preparation, const ClassReading& reading) : p_(preparation), reading_(reading) {}

  /// Returns (H, W, C), (D, H, W, C) or (T, H, W, C) f32, normalised and at the size of samples.
  ///   idx     (N, H, W) u8 for a data set of IDX files, else null
  ///   colour  changes an image before it is normalised; null: none
  /// Errors: kInput as read_rgb, read_image and read_clip; as canvas_of.
  Tensor read(const ClassItem& item, const Tensor* idx, const ColourChange* colour = nullptr) const;
  /// Returns the same before it is normalised: 0 to 1, images at their own size.
  ///   repeated  as clip_intensities; may be null
  Tensor intensities(const ClassItem& item, const Tensor* idx, std::int64_t* repeated = nullptr) const;

 private:
  ClassPreparation p_;
  ClassReading reading_;
};

/// Sums over all pixels of a channel.
struct ChannelSums {
  double sum = 0, square = 0;
  std::int64_t count = 0;
};
std::vector<ChannelSums> channel_sums(const Tensor& intensities);

}  // namespace voxshard
