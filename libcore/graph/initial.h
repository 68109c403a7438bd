// The initial value of a parameter or a state, and how the optimizer treats a parameter. A layer states both where it
// makes the parameter; train/initialise.h and train/optimizer.h read them.
//
//   b.parameter("stem/kernel", type, {.begins = initial::Normal{0.01}, .decays = true});      in text:
//   begins=normal:0.01 decays=true
#pragma once

#include <variant>

namespace voxshard {

namespace initial {  // each has its name in the text form and its number, if any

struct Constant {
  static constexpr const char* kName = "constant";
  double value = 0;
  static auto& number(auto& rule) { return rule.value; }
  friend bool operator==(const Constant&, const Constant&) = default;
};

/// Uniform within sqrt(6 / (kernel volume * (channels in + channels out))) (Glorot and Bengio 2010).
struct GlorotUniform {
  static constexpr const char* kName = "glorot_uniform";
  friend bool operator==(const GlorotUniform&, const GlorotUniform&) = default;
};

struct Normal {
  static constexpr const char* kName = "normal";
  double deviation = 1;
  static auto& number(auto& rule) { return rule.deviation; }
  friend bool operator==(const Normal&, const Normal&) = default;
};

/// Normal truncated at two standard deviations, of variance `scale` / (kernel volume * channels in).
struct VarianceScaling {
  static constexpr const char* kName = "variance_scaling";
  double scale = 1;
  static auto& number(auto& rule) { return rule.scale; }
  friend bool operator==(const VarianceScaling&, const VarianceScaling&) = default;
};

/// Shape (C, 2): {mean 0, variance 1} per channel.
struct UnitMoments {
  static constexpr const char* kName = "unit_moments";
  friend bool operator==(const UnitMoments&, const UnitMoments&) = default;
};

}  // namespace initial

using Initial = std::variant<initial::Constant, initial::GlorotUniform, initial::Normal, initial::VarianceScaling,
                             initial::UnitMoments>;

struct ParameterInfo {
  Initial begins;
  bool decays = false;  // weight decay applies to it
  bool frozen = false;  // it keeps its initial value: no gradient, no optimizer slots
  friend bool operator==(const ParameterInfo&, const ParameterInfo&) = default;
};

}  // namespace voxshard
