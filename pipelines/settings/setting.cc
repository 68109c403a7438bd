#include "pipelines/settings/setting.h"

#include "libcore/base/text.h"
#include "pipelines/runs/model_spec.h"

namespace voxshard {
namespace {

struct ValueText {
  std::string operator()(const std::string* text) const { return *text; }
  std::string operator()(const std::filesystem::path* path) const { return path->string(); }
  std::string operator()(const double* number) const { return joined_text(number, 1, 6); }
  std::string operator()(const std::int64_t* number) const { return std::to_string(*number); }
  std::string operator()(const std::optional<std::int64_t>* number) const {
    return *number ? std::to_string(**number) : "";
  }
  std::string operator()(const std::array<double, 2>* pair) const {
    return joined_text(&(*pair)[0], 1, 6) + "," + joined_text(&(*pair)[1], 1, 6);
  }
  std::string operator()(const Setting::FromText&) const { return ""; }
};

/// The numbers that a setting has now.
struct Numbers {
  std::vector<double> operator()(double* number) const { return {*number}; }
  std::vector<double> operator()(const std::int64_t* number) const { return {static_cast<double>(*number)}; }
  std::vector<double> operator()(const std::optional<std::int64_t>* number) const {
    return *number ? std::vector<double>{static_cast<double>(**number)} : std::vector<double>();
  }
  std::vector<double> operator()(const std::array<double, 2>* pair) const { return {pair->begin(), pair->end()}; }
  std::vector<double> operator()(const auto&) const { return {}; }
};

}  // namespace

void require_in_range(const std::vector<Setting>& settings) {
  for (const Setting& setting : settings)
    for (const double number : std::visit(Numbers(), setting.value))
      if (setting.range) require_in_range(setting.name, number, *setting.range);
}

std::string value_text(const Setting& setting) {
  return setting.tells_default ? std::visit(ValueText(), setting.value) : std::string();
}

Dims crop_from_text(const std::string& text, int axes) {
  Dims crop;
  if (text == "whole") return crop;
  const Shape extents = extents_from_text(text, axes, 1);
  for (int a = 1; a <= axes; ++a) crop.push_back(extents[a]);
  return crop;
}

}  // namespace voxshard
