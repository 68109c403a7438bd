// A CT with its label in the record format of the reference 3D U-Net (tensorflow/tpu, models/official/unet3d):
// `image/ct_image`, raw little-endian f32, D*H*W; `image/label`, f32, D*H*W*classes one-hot or D*H*W class indices.
// Such a record has neither shape nor spacing: ours add them as features of their own, which other readers ignore.
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
  int classes = 0;              // last axis of a one-hot label, or the largest index plus 1
};

struct CtReading {
  Shape shape = {};  // (D, H, W) for records with this number of voxels; others: as the record says, else a cube
  VolumeLimits limits = {};
};

/// Converts a record to a CT. Errors: kInput, a text that begins with the problem: E_FEATURE, E_SHAPE (the number of
/// bytes does not fit the shape), E_NAN, E_LABELS (a label that is neither one-hot nor an index from 0 to 255), E_SIZE,
/// E_GEOMETRY.
CtSample ct_sample(const TfExample& example, const CtReading& reading = {});

struct CtLabels {
  int classes = 2;
  bool one_hot = true;  // true: the form that the reference's reader expects; false: class indices
};

/// Converts a CT to a record. Errors: kInput E_GEOMETRY when the geometries differ, E_LABELS for a label that is not
/// one of the classes.
TfExample ct_example(const Volume& image, const Volume& label, const CtLabels& labels);

}  // namespace voxshard
