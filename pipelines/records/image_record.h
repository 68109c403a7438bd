// An image with boxes as the records of RetinaNet hold it (tensorflow/tpu, models/official/retinanet and detection):
// `image/encoded` (a PNG or JPEG), `image/height`, `image/width`, `image/source_id`, `image/object/bbox/xmin` ...
// `ymax` as parts of the image's sides, `image/object/class/label`, `image/object/is_crowd`, `image/object/area`.
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
  const char* ending = ".png";                // of such files
  std::int64_t width = 0, height = 0;         // pixels
  std::optional<std::int64_t> source_id;      // when `image/source_id` is a whole number
  std::vector<TrueBox> boxes;                 // pixels; `category` is the id that the record says
  std::map<std::int64_t, std::string> names;  // of categories, where the record has them
  BoundedNotes notes{"boxes"};                // those that were left out
};

/// Errors: kInput, beginning with what is wrong: E_FEATURE; E_READ for an image that is neither PNG nor JPEG or cut
/// off; E_SIZE when it is of another size than the record says or too large; E_ORIENTATION for an EXIF rotation, which
/// TensorFlow does not apply; E_ENTRY for lists of different lengths. A box without class, or without area within the
/// image (also by numbers that are not finite), is a note.
RecordImage record_image(const TfExample& example);

/// `encoded`: an upright PNG or JPEG of the image's size.
TfExample image_example(const std::string& encoded, const DetectionImage& image,
                        const std::vector<DetectionClass>& classes);

}  // namespace voxshard
