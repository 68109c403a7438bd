#include "pipelines/tasks/classification/dataset/item_kind.h"

#include <array>

namespace voxshard {
namespace {

constexpr std::array<const char*, 3> kNames = {"pictures", "volumes", "clips"};

}  // namespace

const char* item_kind_name(ItemKind kind) { return kNames[static_cast<std::size_t>(kind)]; }

std::string one_item_name(ItemKind kind) {
  const std::string name = item_kind_name(kind);
  return name.substr(0, name.size() - 1);
}

std::optional<ItemKind> item_kind_from_name(const std::string& name) {
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (name == kNames[i]) return static_cast<ItemKind>(i);
  return std::nullopt;
}

}  // namespace voxshard
