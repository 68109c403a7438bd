#include "apps/detection_text.h"

#include "apps/text_table.h"

namespace voxshard {
namespace {

std::string size_text(std::int64_t width, std::int64_t height) {
  return std::to_string(width) + "x" + std::to_string(height);
}

}  // namespace

std::string picture_text(const PictureInfo& info) {
  const ImageHeader& h = info.header;
  return info.path.string() + "\n  size         " + size_text(h.width, h.height) + " pixels, " + format_name(h.format) +
         ", " + std::to_string(h.channels) + (h.channels == 1 ? " channel of " : " channels of ") +
         std::to_string(h.bits) + " bits" +
         (h.orientation > 1 ? ", EXIF orientation " + std::to_string(h.orientation) : "") + "\n";
}

std::string detection_set_text(const DetectionSetInfo& info) {
  std::string text = info.path.string() + "\n  " + std::to_string(info.images) + " images, " +
                     size_text(info.smallest[0], info.smallest[1]) + " to " +
                     size_text(info.largest[0], info.largest[1]) + " pixels; " + std::to_string(info.boxes) +
                     " boxes, of them " + std::to_string(info.crowds) + " crowds and " + std::to_string(info.ignored) +
                     " to be ignored; " + std::to_string(info.mended) + " entries mended, " +
                     std::to_string(info.failures.size()) + " left out\n";
  std::vector<std::vector<std::string>> rows = {{"class", "id", "boxes"}};
  for (const auto& c : info.classes) rows.push_back({c.name, std::to_string(c.id), std::to_string(c.boxes)});
  return text + text_table(rows);
}

}  // namespace voxshard
