// An image with boxes in the record format of RetinaNet (tensorflow/tpu, models/official/retinanet and detection):
// `image/encoded` (a PNG or JPEG), `image/height`, `image/width`, `image/source_id`, `image/object/bbox/xmin` ...
// `ymax` as fractions of the image's sides, `image/object/class/label`, `image/object/is_crowd`, `image/object/area`.
//
//   RecordImage p = record_image(parse_example(record));        // p.encoded is the file's content
//   TfExample example = image_example(bytes, image, classes);
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "io/boxes/detection_annotations.h"
#include "io/records/tf_example.h"

namespace voxshard {

inline constexpr const char* kEncoded = "image/encoded";

struct RecordImage {
  std::string encoded;                        // a whole PNG or JPEG
  const char* ending = ".png";                // file name ending for `encoded`
  std::int64_t width = 0, height = 0;         // pixels
  std::optional<std::int64_t> source_id;      // when `image/source_id` is a whole number
  std::vector<TrueBox> boxes;                 // pixels; `category` is the id in the record
  std::map<std::int64_t, std::string> names;  // names of categories by id, where the record has them
  BoundedNotes notes{"boxes"};                // boxes that were left out
};

/// Converts a record to an image. Errors: kInput, a text that begins with the problem: E_FEATURE; E_READ for an image
/// that is neither PNG nor JPEG or is truncated; E_SIZE when its size differs from the record's or is too large;
/// E_ORIENTATION for an EXIF rotation, which TensorFlow does not apply; E_ENTRY for lists of different lengths. A box
/// without class, or without area within the image (also by numbers that are not finite), becomes a note.
RecordImage record_image(const TfExample& example);

/// Converts an image to a record. `encoded`: an upright PNG or JPEG of the image's size.
TfExample image_example(const std::string& encoded, const DetectionImage& image,
                        const std::vector<DetectionClass>& classes);

}  // namespace voxshard
