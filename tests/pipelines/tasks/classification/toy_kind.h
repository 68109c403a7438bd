// A kind of data sets of classes that only the tests define, to show that a kind is one file and a row: a folder with
// the text files train.toy and test.toy, whose lines "bright 210" are images of 8 x 8 equal pixels, held in memory.
//
//   ClassSets sets = read_class_sets({.data = "toys", .reading = {.kinds = with_toy_kind()}});
#pragma once

#include <algorithm>
#include <fstream>

#include "pipelines/tasks/classification/dataset/class_dataset.h"

namespace voxshard::test {

inline constexpr std::int64_t kToyImageSide = 8;

inline ClassKind toy_kind();

inline ClassParts find_toy_parts(const std::filesystem::path& path) {
  ClassParts parts;
  if (std::filesystem::exists(path / "train.toy")) parts.train = {toy_kind(), path / "train.toy"};
  if (std::filesystem::exists(path / "test.toy")) parts.test = {toy_kind(), path / "test.toy", true};
  return parts;
}

inline void read_toy_part(const ClassPart& part, const ClassReading&, const std::vector<std::string>* classes,
                          ClassDataset& set) {
  std::vector<std::pair<std::string, int>> images;
  std::ifstream in(part.path);
  int value = 0;
  for (std::string name; in >> name >> value;) images.emplace_back(name, value);
  if (classes != nullptr) {
    set.classes = *classes;
  } else {
    for (const auto& [name, pixel] : images)
      if (!label_of(set.classes, name)) set.classes.push_back(name);
    std::ranges::sort(set.classes);
  }
  const std::int64_t pixels = kToyImageSide * kToyImageSide;
  Tensor all(DType::kU8, {std::ssize(images), kToyImageSide, kToyImageSide});
  for (std::int64_t i = 0; i < std::ssize(images); ++i) {
    const auto& [name, pixel] = images[i];
    std::fill_n(all.as<std::uint8_t>() + i * pixels, pixels, static_cast<std::uint8_t>(pixel));
    if (const auto label = label_of(set.classes, name))
      set.items.push_back({.name = std::to_string(i),
                           .file = part.path,
                           .index = i,
                           .label = *label,
                           .size = {kToyImageSide, kToyImageSide}});
    else
      fail_class(set, std::to_string(i), name);
  }
  set.files = {part.path};
  set.pixels = std::make_shared<const Tensor>(std::move(all));
}

inline ClassKind toy_kind() {
  return {.name = "toys",
          .expected = "a toy list",
          .help = "a toy list",
          .find = find_toy_parts,
          .read = read_toy_part,
          .held_bytes =
              [](const ClassPart& part) { return 8.0 * static_cast<double>(std::filesystem::file_size(part.path)); },
          .usual_model = "digits",
          .usual_batch = "4"};
}

/// Returns the table of the build with one row more.
inline ClassKinds with_toy_kind() {
  ClassKinds kinds = class_kinds();
  kinds.push_back(toy_kind());
  return kinds;
}

}  // namespace voxshard::test
