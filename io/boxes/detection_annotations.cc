#include "io/boxes/detection_annotations.h"

#include <algorithm>
#include <cmath>

namespace voxshard {

void BoundedNotes::add(EntryNote note) {
  if (first_.size() < kMost)
    first_.push_back(std::move(note));
  else
    ++more_;
}

void BoundedNotes::add(const BoundedNotes& part, const std::string& prefix) {
  for (const EntryNote& note : part.first_) add({prefix + note.entry, note.code, note.message});
  more_ += part.more_;
}

std::vector<EntryNote> BoundedNotes::all() const {
  std::vector<EntryNote> notes = first_;
  if (more_ > 0) notes.push_back({std::to_string(more_) + " more " + things_, "E_ENTRY", "are wrong too and left out"});
  return notes;
}

std::optional<TrueBox> clipped_to_image(const TrueBox& box, std::int64_t width, std::int64_t height) {
  const CocoBox& b = box.box;
  const double x0 = std::max(0.0, b.x), x1 = std::min(static_cast<double>(width), b.x + b.width);
  const double y0 = std::max(0.0, b.y), y1 = std::min(static_cast<double>(height), b.y + b.height);
  if (!(x1 > x0 && y1 > y0) || !std::isfinite(b.x + b.y + b.area())) return std::nullopt;
  if (b.x >= 0 && b.y >= 0 && b.x + b.width <= static_cast<double>(width) &&
      b.y + b.height <= static_cast<double>(height))
    return box;
  TrueBox inside = box;
  inside.box = {.x = x0, .y = y0, .width = x1 - x0, .height = y1 - y0};
  inside.area *= inside.box.area() / b.area();
  return inside;
}

}  // namespace voxshard
