// What an input of a graph holds, said by the model that makes it. Whoever feeds a graph, or makes values up for it,
// reads this and never an input's name.
//
//   b.input("labels", type, input::Labels{.classes = 5});      in text: %1 labels = input labels classes=5 :
//   i32[1x8x8x1]
#pragma once

#include <cstdint>
#include <variant>

namespace voxshard {

namespace input {

/// Numbers of which nothing is known.
struct Any {
  static constexpr const char* kName = "";
  static void each(auto&, auto) {}
  friend bool operator==(const Any&, const Any&) = default;
};

/// Normalised intensities or colours.
struct Image {
  static constexpr const char* kName = "image";
  static void each(auto&, auto) {}
  friend bool operator==(const Image&, const Image&) = default;
};

/// A class of 0 to classes - 1 per position.
struct Labels {
  static constexpr const char* kName = "labels";
  std::int64_t classes = 0;
  std::int64_t ignored = -1;  // where nothing is known
  static void each(auto& a, auto f) { f("classes", a.classes), f("ignored", a.ignored); }
  friend bool operator==(const Labels&, const Labels&) = default;
};

/// A class of 0 to classes - 1 per anchor of a pyramid's level.
struct ClassTargets {
  static constexpr const char* kName = "class_targets";
  int level = 0;  // cells are 2^level pixels wide
  std::int64_t classes = 0;
  std::int64_t background = -1;  // no object
  std::int64_t ignored = -2;     // too near to an object to be background
  static void each(auto& a, auto f) {
    f("level", a.level), f("classes", a.classes), f("background", a.background), f("ignored", a.ignored);
  }
  friend bool operator==(const ClassTargets&, const ClassTargets&) = default;
};

/// A coded box per anchor of a pyramid's level; zeros where it has no object.
struct BoxTargets {
  static constexpr const char* kName = "box_targets";
  int level = 0;
  static void each(auto& a, auto f) { f("level", a.level); }
  friend bool operator==(const BoxTargets&, const BoxTargets&) = default;
};

/// {seed, step}, i32: what the random choices of a training step depend on. The trainer fills it, no task does.
struct Draw {
  static constexpr const char* kName = "draw";
  static void each(auto&, auto) {}
  friend bool operator==(const Draw&, const Draw&) = default;
};

}  // namespace input

using InputInfo =
    std::variant<input::Any, input::Image, input::Labels, input::ClassTargets, input::BoxTargets, input::Draw>;

}  // namespace voxshard
