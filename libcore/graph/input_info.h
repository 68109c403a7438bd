// The meaning of a graph's input, stated by the model that makes it. Code that feeds a graph, or generates values for
// it, reads this and never an input's name.
//
//   b.input("labels", type, input::Labels{.classes = 5});      in text: %1 labels = input labels classes=5 :
//   i32[1x8x8x1]
#pragma once

#include <cstdint>
#include <variant>

namespace voxshard {

namespace input {

/// Numbers of unknown meaning.
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

/// A class in [0, classes) per position.
struct Labels {
  static constexpr const char* kName = "labels";
  std::int64_t classes = 0;
  std::int64_t ignored = -1;  // label of positions to leave out
  int merged = 0;             // 1: label 0 also stands for the classes that an input Known leaves out of a sample
  static void each(auto& a, auto f) { f("classes", a.classes), f("ignored", a.ignored), f("merged", a.merged); }
  friend bool operator==(const Labels&, const Labels&) = default;
};

/// (samples, classes) i32: 1 where the class was annotated in the sample, 0 where nothing is known of it. The entry of
/// class 0 is not read: the background is what is left.
struct Known {
  static constexpr const char* kName = "known";
  static void each(auto&, auto) {}
  friend bool operator==(const Known&, const Known&) = default;
};

/// A class in [0, classes) per anchor of a pyramid's level.
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

/// An encoded box per anchor of a pyramid's level; zeros for an anchor without an object.
struct BoxTargets {
  static constexpr const char* kName = "box_targets";
  int level = 0;
  static void each(auto& a, auto f) { f("level", a.level); }
  friend bool operator==(const BoxTargets&, const BoxTargets&) = default;
};

/// {seed, step}, i32: seeds the random choices of a training step. The trainer fills it, tasks do not.
struct Draw {
  static constexpr const char* kName = "draw";
  static void each(auto&, auto) {}
  friend bool operator==(const Draw&, const Draw&) = default;
};

}  // namespace input

using InputInfo = std::variant<input::Any, input::Image, input::Labels, input::Known, input::ClassTargets,
                               input::BoxTargets, input::Draw>;

}  // namespace voxshard
