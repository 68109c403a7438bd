#include "pipelines/tasks/confusion_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "libcore/base/error.h"
#include "libcore/metrics/classified.h"
#include "pipelines/model_runs/report.h"

namespace voxshard {
namespace {

using Json = nlohmann::ordered_json;

struct Mistake {
  std::size_t of, as;
  std::int64_t items;
};

}  // namespace

void add_confusion(Json& detail, const ConfusionTable& table) {
  const std::size_t classes = table.classes.size(), side = classes + (table.has_nothing ? 1 : 0);
  ensure(table.counts.size() == side * side, "a confusion has a row and a column for each class");
  const auto scores = class_scores(table.counts, static_cast<std::int64_t>(side));
  Json rows = Json::array();
  for (std::size_t c = 0; c < std::min(classes, kMostListedClasses); ++c)
    rows.push_back({{"class", table.classes[c]},
                    {"items", scores[c].items},
                    {"found", scores[c].found},
                    {"recall", json_number(scores[c].recall)},
                    {"precision", json_number(scores[c].precision)},
                    {"f1", json_number(scores[c].f1)}});
  detail["classes"] = std::move(rows);
  Json matrix = nullptr;
  std::vector<Mistake> mistakes;
  for (std::size_t of = 0; of < side; ++of) {
    Json row = Json::array();
    for (std::size_t as = 0; as < side; ++as) {
      const std::int64_t items = table.counts[of * side + as];
      if (classes <= kMostMatrixClasses) row.push_back(items);
      if (of != as && items > 0) mistakes.push_back({of, as, items});
    }
    if (classes <= kMostMatrixClasses) matrix.push_back(std::move(row));
  }
  detail["confusion"] = std::move(matrix);
  std::ranges::stable_sort(mistakes, std::greater(), &Mistake::items);
  if (mistakes.size() > kMostMistakes) mistakes.resize(kMostMistakes);
  Json listed = Json::array();
  const auto number = [&](std::size_t c) { return c < classes ? Json(c) : Json(); };
  for (const Mistake& one : mistakes)
    listed.push_back({{"true", number(one.of)}, {"found", number(one.as)}, {"items", one.items}});
  detail["mistakes"] = std::move(listed);
}

}  // namespace voxshard
