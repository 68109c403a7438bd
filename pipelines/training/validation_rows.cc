#include "pipelines/training/validation_rows.h"

#include "libcore/base/plain_text.h"

namespace voxshard {

std::vector<std::string> validation_columns(const std::string& metric) {
  return {"step", "weights", "case", "class", metric};
}

std::vector<std::vector<CsvField>> validation_rows(std::int64_t step, const std::string& weights,
                                                   const Validation& validation) {
  std::vector<std::vector<CsvField>> rows;
  const auto add = [&](const std::string& item, const std::string& of_class, double score) {
    rows.push_back({step, weights, plain_text(item), plain_text(of_class), score});
  };
  const auto add_classes = [&](const std::string& item, const std::vector<double>& by_class) {
    for (std::size_t c = 0; c < std::min(by_class.size(), validation.classes.size()); ++c)
      add(item, validation.classes[c], by_class[c]);
  };
  add("", "", validation.score);
  add_classes("", validation.by_class);
  for (const ValidatedCase& one : validation.cases) add_classes(one.name, one.by_class);
  return rows;
}

}  // namespace voxshard
