#include "pipelines/tpu/tpu_config_line.h"

#include "pipelines/tpu/tpu_config.h"
#include "pipelines/tpu/tpu_config_text.h"

namespace voxshard {
namespace {

std::optional<nlohmann::json> value_of(const std::string& text) {
  try {
    const nlohmann::json value = value_from_text(text);
    if (is_input_partition_dims(value)) return value;
  } catch (const Error&) {  // corrected below
  }
  const auto better = mended(text, is_input_partition_dims);
  if (!better) return std::nullopt;
  return value_from_text(*better);
}

std::string without_spaces(std::string text) {
  std::erase(text, ' ');
  return text;
}

}  // namespace

std::optional<std::string> mended_dims_line(const std::string& line, ConfigForm form) {
  const std::size_t begin = line.find_first_of("[({", line.find("input_partition_dims")),
                    end = line.find_last_of("])}");
  if (begin == std::string::npos || end == std::string::npos || end < begin) return std::nullopt;
  const std::string written = line.substr(begin, end + 1 - begin);
  const auto value = value_of(written);
  if (!value) return std::nullopt;
  const bool json = form == ConfigForm::kJson, yaml = form == ConfigForm::kYaml;
  const std::string text = to_text(*value, json ? TextStyle::kJson : yaml ? TextStyle::kPython : TextStyle::kToml);
  if (without_spaces(written) == without_spaces(text)) return std::nullopt;
  return (json ? "\"input_partition_dims\": " : yaml ? "input_partition_dims: " : "input_partition_dims = ") + text;
}

}  // namespace voxshard
