#include "pipelines/tasks/detection/dataset/detection_dataset.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "io/files/file_name.h"
#include "io/image/image_reader.h"
#include "libcore/base/plain_text.h"
#include "libcore/base/rng.h"
#include "libcore/base/text.h"
#include "pipelines/tasks/detection/dataset/image_folds.h"
#include "pipelines/tasks/detection/dataset/image_places.h"
#include "pipelines/tasks/detection/dataset/video_dataset.h"
#include "pipelines/tasks/group_folds.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void throw_input(const fs::path& path, const std::string& what, const std::string& action) {
  throw Error(ErrorKind::kInput, "[data] " + path.string() + ": " + what + "; " + action);
}

/// Takes the size from the image and clips the boxes to it. Returns false when the image cannot be used.
bool check_image(DetectionImage& image, const ImageReader& reader, std::vector<EntryNote>& notes) {
  const std::string name = image.file.filename().string();
  ImageSize h;
  try {
    require_utf8_name(name);
    h = reader.size(image.file);
  } catch (const Error& e) {
    std::error_code error;
    notes.push_back(
        {plain_text(name), fs::exists(image_address(image.file).file, error) ? e.code() : "E_MISSING", e.what()});
    return false;
  }
  const auto size_text = [](std::int64_t w, std::int64_t h) { return std::to_string(w) + " x " + std::to_string(h); };
  if (image.width > 0 && image.height > 0 && (image.width != h.width || image.height != h.height))
    notes.push_back({name, "W_SIZE",
                     "has " + size_text(h.width, h.height) + " pixels when upright, its entry says " +
                         size_text(image.width, image.height) +
                         "; the boxes are taken as those of the upright picture"});
  image.width = h.width, image.height = h.height;
  std::vector<TrueBox> inside;
  for (std::size_t i = 0; i < image.boxes.size(); ++i) {
    const std::string entry = name + " box " + std::to_string(i);
    const auto box = clipped_to_image(image.boxes[i], image.width, image.height);
    if (!box) {
      notes.push_back({entry, "E_BOX", "has no area inside of the picture; it is left out"});
      continue;
    }
    if (box->box != image.boxes[i].box)
      notes.push_back({entry, "W_CLIPPED", "reaches beyond the picture; it is cut to it"});
    inside.push_back(*box);
  }
  image.boxes = std::move(inside);
  return true;
}

DetectionDataset complete(DetectionDataset set, const BoxFormat& format, DetectionUse use, std::int64_t most_pixels) {
  if (use == DetectionUse::kTraining) {
    if (!format.places_images) place_images(set);
    ImageKeys seen;
    leave_out_seen(set, seen, "is the one of an earlier entry, which may be in the other part of the data");
    const ImageReader reader({.most_pixels = most_pixels});
    std::erase_if(set.images, [&](DetectionImage& image) { return !check_image(image, reader, set.notes); });
  }
  if (set.images.empty())
    throw Error(ErrorKind::kNoCase,
                "[data] " + set.source.string() + ": no image can be used" +
                    (set.notes.empty() ? "" : "; the first: " + set.notes[0].entry + " " + set.notes[0].message));
  return set;
}

/// Returns the only file of that part, "train" or "val", which its name holds; empty when there is none or there are
/// several. "trainval" is both, so neither.
fs::path only_part(const std::vector<fs::path>& files, const std::string& part) {
  fs::path found;
  for (const auto& file : files) {
    const std::string name = file.filename().string();
    if (name.find(part) == std::string::npos || name.find("trainval") != std::string::npos) continue;
    if (!found.empty()) return {};
    found = file;
  }
  return found;
}

bool is_folder(const fs::path& path) {
  std::error_code error;
  if (!fs::exists(path, error)) throw_input(path, "does not exist", "check the path");
  return fs::is_directory(path, error);
}

/// Returns "annotations.json, instances*.json or coco*.json, Annotations/*.xml with JPEGImages, or gt/gt.txt".
std::string expected_text(const BoxFormats& formats) {
  std::vector<std::string> all = box_words(formats).expected;
  if (all.size() > 1) all.back() = "or " + all.back();
  return joined(all, ", ");
}

/// Returns the only annotations that a path stands for.
fs::path only_annotations(const fs::path& path, const BoxFormats& formats) {
  if (!is_folder(path)) return path;
  const auto found = annotations_in(path, formats);
  if (found.size() == 1) return found[0];
  if (found.empty()) throw_input(path, "holds no annotations", "expected " + expected_text(formats));
  std::string names;
  for (const auto& file : found) names += " " + file.lexically_relative(path).string();
  throw_input(path, "holds several annotation files:" + names, "give one of them");
}

DetectionDataset read_annotations(const fs::path& path, DetectionUse use, std::int64_t most_pixels,
                                  const BoxFormats& formats) {
  is_folder(path);  // throws when the path is missing
  const BoxFormat& format = format_of(path, formats);
  return complete(format.read(path), format, use, most_pixels);
}

std::string class_names(const DetectionDataset& set) {
  return joined(set.classes, ", ", [](const auto& c) { return std::to_string(c.id) + " " + c.name; });
}

/// Formats without a list of classes number those that occur: what validates may have fewer.
DetectionSets with_equal_classes(DetectionSets sets) {
  if (number_as(sets.train.classes, sets.val))
    throw Error(ErrorKind::kConfig, "[data] " + sets.val.source.string() + " has the classes " + class_names(sets.val) +
                                        "; expected those of " + sets.train.source.string() + ": " +
                                        class_names(sets.train));
  return sets;
}

/// Leaves out training images that are also validation images.
DetectionSets without_seen(DetectionSets sets) {
  ImageKeys held_out;
  for (const DetectionImage& image : sets.val.images) held_out.insert(image);
  leave_out_seen(sets.train, held_out, "also validates, by " + sets.val.source.string());
  if (sets.train.images.empty())
    throw Error(ErrorKind::kNoCase, "[data] every picture of " + sets.train.source.string() + " also validates, by " +
                                        sets.val.source.string() +
                                        ": none is left to train; give {val} other pictures");
  return sets;
}

/// Moves the images that `is_val` picks to the validation set.
DetectionSets split_by(DetectionDataset set, const std::function<bool(const DetectionImage&)>& is_val) {
  DetectionSets sets;
  sets.val = {.source = set.source, .classes = set.classes, .images = {}, .notes = {}};
  const auto first_val =
      std::stable_partition(set.images.begin(), set.images.end(), [&](const auto& image) { return !is_val(image); });
  sets.val.images.assign(std::make_move_iterator(first_val), std::make_move_iterator(set.images.end()));
  set.images.erase(first_val, set.images.end());
  sets.train = std::move(set);
  return sets;
}

/// Splits by the lists of the data set itself; none when it has no lists.
std::optional<DetectionSets> split_by_lists(const DetectionDataset& set, const BoxFormats& formats) {
  const auto train = listed_images(set.source, "train", formats), val = listed_images(set.source, "val", formats);
  if (train.empty() || val.empty()) return std::nullopt;
  const auto listed_in = [](const std::vector<std::string>& names) {
    return [listed = std::set<std::string>(names.begin(), names.end())](const DetectionImage& image) {
      return listed.contains(image.file.stem().string());
    };
  };
  DetectionDataset listed = set;
  std::erase_if(listed.images, [in_train = listed_in(train), in_val = listed_in(val)](const auto& image) {
    return !in_train(image) && !in_val(image);
  });
  DetectionSets sets = split_by(std::move(listed), listed_in(val));
  if (sets.train.images.empty() || sets.val.images.empty()) return std::nullopt;
  return sets;
}

}  // namespace

std::optional<std::string> number_as(const std::vector<DetectionClass>& classes, DetectionDataset& dataset) {
  std::vector<std::int64_t> number;
  for (const DetectionClass& c : dataset.classes) {
    auto found = std::ranges::find(classes, c);
    if (found == classes.end()) found = std::ranges::find(classes, c.name, &DetectionClass::name);
    if (found == classes.end()) return c.name;
    number.push_back(found - classes.begin());
  }
  for (DetectionImage& image : dataset.images)
    for (TrueBox& box : image.boxes) box.category = number.at(box.category);
  dataset.classes = classes;
  return std::nullopt;
}

fs::path unseen_annotations(const fs::path& path, const BoxFormats& formats) {
  const auto files = annotations_in(path, formats);
  const fs::path own_val = files.size() > 1 ? only_part(files, "val") : fs::path();
  return own_val.empty() ? path : own_val;
}

DetectionDataset read_detection_dataset(const fs::path& path, DetectionUse use, std::int64_t most_pixels,
                                        const BoxFormats& formats) {
  return read_annotations(only_annotations(path, formats), use, most_pixels, formats);
}

DetectionSets split_detection_dataset(DetectionDataset dataset, double val_fraction, std::uint64_t seed) {
  if (!(val_fraction >= 0 && val_fraction < 1))
    throw Error(ErrorKind::kConfig, "[data] the share of validation images must be at least 0 and below 1");
  const auto count = dataset.images.size();
  auto val = static_cast<std::size_t>(std::llround(val_fraction * static_cast<double>(count)));
  if (val_fraction > 0 && count > 1) val = std::clamp<std::size_t>(val, 1, count - 1);
  std::map<std::string, std::int64_t> first;  // id of a sequence's first image, for all of them
  for (const DetectionImage& image : dataset.images)
    if (image.place) first.emplace(image.place->sequence, image.id);
  const auto lot = [&](const DetectionImage& image) {
    const std::int64_t id = image.place && first.size() > 1 ? first.at(image.place->sequence) : image.id;
    return rng_bits({.seed = seed, .stream = rng_stream("detection_split")}, static_cast<std::uint64_t>(id));
  };
  std::vector<std::uint64_t> lots;
  for (const auto& image : dataset.images) lots.push_back(lot(image));
  std::sort(lots.begin(), lots.end());
  while (val > 0 && lots[val - 1] == lots.back()) --val;  // the last sequence trains
  return split_by(std::move(dataset), [&](const auto& image) { return val > 0 && lot(image) <= lots[val - 1]; });
}

DetectionSets read_detection_sets(const DetectionSetsOptions& o) {
  require_one_choice(o.fold, o.val);
  const bool folder = is_folder(o.data);
  const auto files = folder ? annotation_files(o.data, o.formats) : std::vector<fs::path>();
  const fs::path own_train = only_part(files, "train"), own_val = only_part(files, "val");
  const fs::path train = own_train.empty() ? only_annotations(o.data, o.formats) : own_train;
  const fs::path val = o.val.empty() && !own_train.empty() ? own_val : o.val;
  DetectionDataset set = read_annotations(train, DetectionUse::kTraining, o.most_pixels, o.formats);
  if (set.classes.empty()) throw_input(train, "names no class", "a detector needs at least one class of objects");
  if (o.frames) keep_frames(set, *o.frames);
  if (!o.fold.empty()) {
    std::optional<DetectionSets> listed = split_by_lists(set, o.formats);
    DetectionSets sets = split_by_fold(listed ? std::move(listed->train) : std::move(set), o.fold, o.kept);
    if (!val.empty()) sets.said += "; " + val.string() + " neither trains nor validates";
    if (listed) sets.said += "; what is not in its list train neither trains nor validates";
    return sets;
  }
  if (!val.empty())
    return without_seen(with_equal_classes(
        {std::move(set), read_detection_dataset(val, DetectionUse::kTraining, o.most_pixels, o.formats)}));
  if (auto sets = split_by_lists(set, o.formats)) return std::move(*sets);
  if (!o.kept.empty()) return split_as_kept(std::move(set), o.kept.front());
  return has_video_frames(set) ? split_by_time(std::move(set), o.val_fraction)
                               : split_detection_dataset(std::move(set), o.val_fraction, o.seed);
}

std::vector<TrueBox> true_boxes(const DetectionDataset& dataset) {
  std::vector<TrueBox> boxes;
  for (std::size_t i = 0; i < dataset.images.size(); ++i)
    for (TrueBox box : dataset.images[i].boxes) {
      box.image = static_cast<std::int64_t>(i);
      boxes.push_back(box);
    }
  return boxes;
}

std::vector<CaseFailure> note_failures(const std::vector<EntryNote>& notes) {
  std::vector<CaseFailure> failures;
  for (const auto& note : notes)
    if (note.code.starts_with("E")) failures.push_back({note.entry, note.code, note.message});
  return failures;
}

std::vector<std::string> mended_texts(const std::vector<EntryNote>& notes) {
  std::map<std::string, std::int64_t> counts;
  for (const EntryNote& note : notes) ++counts[note.code];
  std::vector<std::string> texts;
  for (const EntryNote& note : notes) {
    if (!note.code.starts_with("W") || counts[note.code] == 0) continue;
    const std::int64_t count = std::exchange(counts[note.code], 0);
    texts.push_back(note.code + " " + (count > 1 ? counted(count, "entry", "entries") + ", the first: " : "") +
                    note.entry + " " + note.message);
  }
  return texts;
}

std::vector<std::string> size_warnings(const std::vector<EntryNote>& notes) {
  std::vector<std::string> texts = mended_texts(notes);
  std::erase_if(texts, [](const std::string& text) { return !text.starts_with("W_SIZE"); });
  return texts;
}

}  // namespace voxshard
