#include "pipelines/tasks/crop_name.h"

#include <cstdio>
#include <regex>

namespace voxshard {

std::string crop_name(const std::string& stem, std::size_t image, std::size_t box) {
  char numbers[48];
  std::snprintf(numbers, sizeof numbers, "_%08zu_%03zu.png", image, box);
  return stem + numbers;
}

std::optional<std::string> image_of_crop(const std::filesystem::path& file) {
  static const std::regex kNumbers(R"(_0[0-9]{7}_[0-9]{3,}\.png$)");
  const std::string name = file.filename().string();
  std::smatch numbers;
  if (!std::regex_search(name, numbers, kNumbers)) return std::nullopt;
  return name.substr(0, static_cast<std::size_t>(numbers.position()) + sizeof "_00000000" - 1);
}

}  // namespace voxshard
