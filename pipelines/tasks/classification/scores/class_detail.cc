#include "pipelines/tasks/classification/scores/class_detail.h"

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>

#include "pipelines/model_runs/report.h"
#include "pipelines/tasks/confusion_json.h"

namespace voxshard {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostNamedItems = 5;

}  // namespace

Json class_detail(const Classified& found, const std::vector<std::string>& classes,
                  const std::vector<std::string>& names) {
  Json detail = {{"kind", "classification"}, {"items", found.count()}, {"accuracy", json_number(accuracy(found))}};
  add_confusion(detail, {.classes = classes, .counts = confusion_matrix(found)});
  const auto probability = [&](std::size_t item) {
    const auto i = static_cast<std::int64_t>(item);
    return found.row(i)[found.truth[item]];
  };
  std::vector<std::size_t> order(names.size());
  const auto named = [&](std::size_t most) {
    Json list = Json::array();
    for (std::size_t k = 0; k < std::min(kMostNamedItems, most); ++k) {
      const std::size_t item = order[k];
      list.push_back({{"item", names[item]},
                      {"true", found.truth[item]},
                      {"found", likeliest(found.row(static_cast<std::int64_t>(item)))},
                      {"probability", json_number(probability(item))}});
    }
    return list;
  };
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::less(), probability);
  detail["worst"] = named((order.size() + 1) / 2);
  std::ranges::reverse(order);
  std::ranges::stable_sort(order, std::greater(), probability);
  detail["best"] = named(order.size() / 2);  // none that is among the worst
  return detail;
}

}  // namespace voxshard
