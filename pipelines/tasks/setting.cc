#include "pipelines/tasks/setting.h"

#include <cstdio>

#include "pipelines/runs/model_spec.h"

namespace voxshard {
namespace {

std::string number_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

struct ValueText {
  std::string operator()(const std::string* text) const { return *text; }
  std::string operator()(const std::filesystem::path* path) const { return path->string(); }
  std::string operator()(const double* number) const { return number_text(*number); }
  std::string operator()(const std::int64_t* number) const { return std::to_string(*number); }
  std::string operator()(const std::optional<std::int64_t>* number) const {
    return *number ? std::to_string(**number) : "";
  }
  std::string operator()(const std::array<double, 2>* pair) const {
    return number_text((*pair)[0]) + "," + number_text((*pair)[1]);
  }
  std::string operator()(const Setting::FromText&) const { return ""; }
};

}  // namespace

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
