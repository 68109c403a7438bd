#include "pipelines/records/image_record.h"

#include <charconv>
#include <cmath>

#include "io/files/file_name.h"
#include "io/image/image.h"
#include "io/image/image_header.h"
#include "pipelines/records/record_input.h"

namespace voxshard {
namespace {

constexpr const char* kHeight = "image/height";
constexpr const char* kWidth = "image/width";
constexpr const char* kSource = "image/source_id";
constexpr const char* kXMin = "image/object/bbox/xmin";
constexpr const char* kXMax = "image/object/bbox/xmax";
constexpr const char* kYMin = "image/object/bbox/ymin";
constexpr const char* kYMax = "image/object/bbox/ymax";
constexpr const char* kLabel = "image/object/class/label";
constexpr const char* kText = "image/object/class/text";
constexpr const char* kCrowd = "image/object/is_crowd";
constexpr const char* kArea = "image/object/area";
constexpr const char* kFormat = "image/format";
constexpr std::int64_t kMostId = std::int64_t{1} << 53;  // JSON readers keep integers exact up to this

std::optional<std::int64_t> whole_number_of(const std::string& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0 || value > kMostId) return std::nullopt;
  return value;
}

/// Returns the list of a feature, with one value per box; empty when the record lacks the feature. Errors: kInput
/// E_ENTRY for another number of values.
template <class List>
List list_if_there(const TfExample& example, const char* name,
                   const List& (*read)(const TfExample&, const std::string&), std::size_t count) {
  if (!example.has(name)) return {};
  List list = read(example, name);
  if (!list.empty() && list.size() != count)
    throw record_error("E_ENTRY", "has " + std::to_string(list.size()) + " values in " + name + " for " +
                                      std::to_string(count) + " boxes");
  return list;
}

ImageHeader header_of(std::string_view bytes) {
  try {
    return parse_image_header(bytes, kEncoded);
  } catch (const Error& e) {
    throw record_error(e.code(), std::string("has a picture that cannot be used: ") + e.what());
  }
}

void require_image(RecordImage& decoded) {
  const std::string_view bytes = decoded.encoded;
  const bool png = bytes.starts_with("\x89PNG"), jpeg = bytes.starts_with("\xff\xd8");
  if (!png && !jpeg) throw record_error("E_READ", std::string("has no PNG or JPEG in ") + kEncoded);
  const ImageHeader header = header_of(bytes);
  if (header.orientation != 1)
    throw record_error(
        "E_ORIENTATION",
        "has a picture with EXIF orientation " + std::to_string(header.orientation) +
            ", which TensorFlow does not apply and others do: its boxes cannot be placed; write it upright");
  require_pixels_within(kMostPixels, header.width, header.height, kEncoded);
  decoded.ending = png ? ".png" : ".jpg", decoded.width = header.width, decoded.height = header.height;
}

void require_size(const TfExample& example, const char* name, std::int64_t pixels) {
  if (!example.has(name)) return;
  if (const std::int64_t said = int64_feature(example, name); said != pixels)
    throw record_error("E_SIZE", std::string("has ") + std::to_string(said) + " as " + name + ", but its picture has " +
                                     std::to_string(pixels));
}

}  // namespace

RecordImage record_image(const TfExample& example) {
  RecordImage decoded;
  if (example.has("image/segmentation/mask"))
    throw record_error(
        "E_FEATURE",
        "has image/segmentation/mask, a sample for semantic segmentation; expected boxes, or a volume in "
        "image/ct_image");
  decoded.encoded = bytes_feature(example, kEncoded);
  require_image(decoded);
  require_size(example, kWidth, decoded.width);
  require_size(example, kHeight, decoded.height);
  if (example.has(kSource)) {
    const auto* texts = std::get_if<BytesList>(&example.features.at(kSource));
    decoded.source_id = texts == nullptr ? std::nullopt : whole_number_of(bytes_feature(example, kSource));
  }
  if (!example.has(kXMin) && !example.has(kLabel)) return decoded;
  const std::size_t count = float_list(example, kXMin).size();
  const FloatList x0 = list_if_there(example, kXMin, float_list, count),
                  x1 = list_if_there(example, kXMax, float_list, count),
                  y0 = list_if_there(example, kYMin, float_list, count),
                  y1 = list_if_there(example, kYMax, float_list, count),
                  areas = list_if_there(example, kArea, float_list, count);
  const Int64List labels = list_if_there(example, kLabel, int64_list, count),
                  crowds = list_if_there(example, kCrowd, int64_list, count);
  const BytesList texts = list_if_there(example, kText, bytes_list, count);
  if (x1.size() != count || y0.size() != count || y1.size() != count || labels.size() != count)
    throw record_error("E_ENTRY", "has " + std::to_string(count) + " values in " + kXMin +
                                      ", but not as many in the other edges and labels");
  const auto width = static_cast<double>(decoded.width), height = static_cast<double>(decoded.height);
  for (std::size_t i = 0; i < count; ++i)
    decoded.notes.in("box " + std::to_string(i + 1), [&] {
      if (labels[i] < 0 || labels[i] > kMostId)
        throw EntryProblem("has the class " + std::to_string(labels[i]), "E_CLASS");
      const PixelBox edges{.y0 = y0[i] * height, .x0 = x0[i] * width, .y1 = y1[i] * height, .x1 = x1[i] * width};
      TrueBox box{.category = labels[i], .box = coco_box(edges), .crowd = !crowds.empty() && crowds[i] != 0};
      box.area = areas.empty() || !std::isfinite(areas[i]) || areas[i] < 0 ? box.box.area() : areas[i];
      const auto clipped = clipped_to_image(box, decoded.width, decoded.height);
      if (!clipped) throw EntryProblem("has no area within the picture", "E_BOX");
      decoded.boxes.push_back(*clipped);
      if (!texts.empty() && text_problem(texts[i]).empty() && texts[i].size() <= kMostNameBytes)
        decoded.names.emplace(labels[i], texts[i]);
    });
  return decoded;
}

TfExample image_example(const std::string& encoded, const DetectionImage& image,
                        const std::vector<DetectionClass>& classes) {
  FloatList x0, x1, y0, y1, areas;
  Int64List labels, crowds;
  BytesList texts;
  const auto width = static_cast<double>(image.width), height = static_cast<double>(image.height);
  for (const TrueBox& box : image.boxes) {
    const PixelBox edges = pixel_box(box.box);
    x0.push_back(static_cast<float>(edges.x0 / width)), x1.push_back(static_cast<float>(edges.x1 / width));
    y0.push_back(static_cast<float>(edges.y0 / height)), y1.push_back(static_cast<float>(edges.y1 / height));
    areas.push_back(static_cast<float>(box.area));
    const DetectionClass& of = classes.at(box.category);
    labels.push_back(of.id), texts.push_back(of.name);
    crowds.push_back(box.crowd || box.ignore ? 1 : 0);
  }
  TfExample example;
  auto& features = example.features;
  features[kFormat] = BytesList{encoded.starts_with("\x89PNG") ? "png" : "jpeg"};
  features[kEncoded] = BytesList{encoded};
  features[kHeight] = Int64List{image.height}, features[kWidth] = Int64List{image.width};
  features[kSource] = BytesList{std::to_string(image.id)};
  features[kXMin] = std::move(x0), features[kXMax] = std::move(x1), features[kYMin] = std::move(y0),
  features[kYMax] = std::move(y1);
  features[kLabel] = std::move(labels), features[kText] = std::move(texts);
  features[kCrowd] = std::move(crowds), features[kArea] = std::move(areas);
  return example;
}

}  // namespace voxshard
