// What is done to an image, a volume or a clip before a classifier sees it, in training and in prediction alike; a
// part of each checkpoint.
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
#include "pipelines/tasks/classification/dataset/class_dataset.h"

namespace voxshard {

struct ClassPreparation {
  std::vector<std::string> classes;
  ItemKind items = ItemKind::kImage;
  std::int64_t clip_length = 16, clip_stride = 1;   // of clips: frames, of every so many of the video
  std::int64_t channels = 1;                        // 1: grey, 3: colour
  std::vector<double> mean = {0}, deviation = {1};  // per channel, of intensities that were brought to 0..1
  std::array<double, 2> window_hu = {-160, 240};    // of volumes: these become 0 and 1, what is beyond is cut
  Dims size;              // H W, D H W or T H W (T is clip_length) that every sample gets; empty: its own
  bool resizes = false;   // to that size; else what is smaller is padded, and what is larger refused
  bool enlarges = false;  // what is smaller than the size by an integer factor on all axes is enlarged by it first
  std::int64_t pad_multiple = 1;  // own sizes: extents are rounded up to it, so that plans are reused

  int axes() const { return items == ItemKind::kImage ? 2 : 3; }
};

nlohmann::ordered_json to_json(const ClassPreparation& preparation);
/// Errors: kCheckpoint names what is missing or wrong.
ClassPreparation class_preparation_from_json(const nlohmann::json& json);

/// The extents that an item of this size is seen at. Errors: kInput E_SIZE for one that is larger than it may be.
Dims canvas_of(const ClassItem& item, const ClassPreparation& preparation);

/// An image in the channels that the model sees.
///   rgb  (H, W, 3) f32, 0 to 1
///   returns  (H, W, C) f32
Tensor image_intensities(Tensor rgb, const ClassPreparation& preparation);
/// The same image (H, W, C) at the H and W that samples are resized to, if they are.
Tensor at_size(Tensor image, const ClassPreparation& preparation);
/// Less the mean, by the deviation, channel by channel.
///   sample  (.., C) f32
void normalise(Tensor& sample, const ClassPreparation& preparation);

/// Intensities of a part of a data set. Threads: any number at once.
class ItemReader {
 public:
  ItemReader(const ClassPreparation& preparation, const ClassReading& reading) : p_(preparation), reading_(reading) {}

  /// (H, W, C), (D, H, W, C) or (T, H, W, C) f32, normalised and brought to the size.
  ///   idx  (N, H, W) u8 of a data set of IDX files, else null
  /// Errors: kInput as read_rgb, read_image and read_clip; as canvas_of.
  Tensor read(const ClassItem& item, const Tensor* idx) const;
  /// The same before it is normalised: 0 to 1, images at their own size.
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
