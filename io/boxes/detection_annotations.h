// Images with boxes, independent of the file format: io/boxes/coco.h and io/boxes/voc.h read them, pipelines/
// detection_dataset.h completes them. An entry that cannot be used is left out with a note; the others stay.
//
//   for (const DetectionImage& image : set.images)                 // ascending ids
//     for (const TrueBox& b : image.boxes) set.classes[b.category].name;
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/tensor/pixel_box.h"

namespace voxshard {

struct DetectionClass {
  std::string name;
  std::int64_t id = 0;  // COCO's category id; 1, 2, ... for VOC

  bool operator==(const DetectionClass&) const = default;
};

/// Where an image file stands in a sequence: as a frame of a video that was stored image by image.
struct SequencePlace {
  std::string sequence;    // the same for all of its frames
  std::int64_t frame = 0;  // in the order of time
};

struct DetectionImage {
  std::filesystem::path file;          // as in the annotations; a path that can be opened once the images were found
  std::int64_t id = 0;                 // COCO's image id; 1, 2, ... by name for VOC
  std::int64_t width = 0, height = 0;  // pixels of the upright image; 0 until it was read from the file or the image
  std::vector<TrueBox> boxes;          // in the order of the file; categories are indices into the classes
  std::optional<SequencePlace> place = {};  // of an image file that the annotations say is a frame; none of a video's
};

/// A problem with one entry. Codes that begin with E mean that the entry was left out: E_ENTRY (malformed),
/// E_DUPLICATE, E_CLASS, E_NAME (the image's name leaves the folder), E_IMAGE (the image is not listed), E_BOX (not
/// finite, without area or outside of the image), E_MISSING and E_READ (the image file). Codes that begin with W mean
/// that the entry was kept: W_CLIPPED, W_SIZE (the image has another size than its entry says).
struct EntryNote {
  std::string entry;  // "annotations[17]", "cells_03.png", "cells_03.xml object 2"
  std::string code;
  std::string message;
};

/// Error that is thrown while one entry is read; its text describes the problem.
struct EntryProblem : Error {
  explicit EntryProblem(std::string text, const char* code = "E_ENTRY")
      : Error(ErrorKind::kInput, code, std::move(text)) {}
};

/// Runs `body`; an EntryProblem becomes a note on `entry`.
template <class Body>
void in_entry(const std::string& entry, std::vector<EntryNote>& notes, Body body) {
  try {
    body();
  } catch (const EntryProblem& problem) {
    notes.push_back({entry, problem.code(), problem.what()});
  }
}

/// A bounded list of notes, because a file of another kind would give one for every line: the first thousand, and one
/// that counts the others.
///
///   BoundedNotes notes("lines");
///   notes.in("line 17", [&] { rows.push_back(parse_line(line)); });
///   file.notes = notes.all();                                       // the last may be "500 more lines"
class BoundedNotes {
 public:
  static constexpr std::size_t kMost = 1000;

  explicit BoundedNotes(std::string things = "entries") : things_(std::move(things)) {}

  /// As in_entry; may be called within `body`.
  template <class Body>
  void in(const std::string& entry, Body body) {
    std::vector<EntryNote> one;
    in_entry(entry, one, body);
    for (EntryNote& note : one) add(std::move(note));
  }
  void add(EntryNote note);
  /// Adds the notes of a part; `prefix` ("record 3 ") goes in front of each entry's name.
  void add(const BoundedNotes& part, const std::string& prefix);
  bool empty() const { return first_.empty(); }
  std::vector<EntryNote> all() const;

 private:
  std::string things_;
  std::vector<EntryNote> first_;
  std::int64_t more_ = 0;
};

struct DetectionDataset {
  std::filesystem::path source;         // the file or folder
  std::vector<DetectionClass> classes;  // ascending ids (COCO), by name (VOC)
  std::vector<DetectionImage> images;   // ascending ids
  std::vector<EntryNote> notes;

  std::int64_t boxes() const {
    std::int64_t count = 0;
    for (const auto& image : images) count += static_cast<std::int64_t>(image.boxes.size());
    return count;
  }
};

/// Cuts a box to an image of `width` x `height` and scales its area alike; nothing when no area is left (also of a box
/// without area or with numbers that are not finite).
std::optional<TrueBox> clipped_to_image(const TrueBox& box, std::int64_t width, std::int64_t height);

}  // namespace voxshard
