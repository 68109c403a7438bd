// A CT with its label as the records of the reference 3D U-Net hold it (tensorflow/tpu, models/official/unet3d):
// `image/ct_image`, raw little-endian f32, D*H*W; `image/label`, f32, D*H*W*classes one-hot or D*H*W class indices.
// Such a record says neither shape nor spacing: ours add them under names of their own, which other readers pass over.
//
//   TfExample example = ct_example(image, label, {.classes = 3});
//   CtSample sample = ct_sample(parse_example(record), {.shape = {128, 128, 128}});
#pragma once

#include <optional>

#include "io/records/tf_example.h"
#include "io/volume/volume.h"

namespace voxshard {

inline constexpr const char* kCtImage = "image/ct_image";
inline constexpr const char* kCtLabel = "image/label";

struct CtSample {
  Volume image;                 // f32
  std::optional<Volume> label;  // i32, 0 to classes - 1
  int classes = 0;              // of a one-hot label its last axis, of an index its largest value and one
};

struct CtReading {
  Shape shape = {};  // (D, H, W) of records of so many voxels; others: as the record says, else a cube
  VolumeLimits limits = {};
};

/// Errors: kInput, beginning with what is wrong: E_FEATURE, E_SHAPE (the bytes are no volume of that shape), E_NAN,
/// E_LABELS (a label that is neither one-hot nor an index from 0 to 255), E_SIZE, E_GEOMETRY.
CtSample ct_sample(const TfExample& example, const CtReading& reading = {});

struct CtLabels {
  int classes = 2;
  bool one_hot = true;  // the form that the reference's reader wants; else class indices
};

/// Errors: kInput E_GEOMETRY when the two lie otherwise, E_LABELS for a label that is not one of the classes.
TfExample ct_example(const Volume& image, const Volume& label, const CtLabels& labels);

}  // namespace voxshard
