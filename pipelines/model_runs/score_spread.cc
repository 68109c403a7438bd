#include "pipelines/model_runs/score_spread.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "io/files/csv.h"
#include "io/files/file_name.h"
#include "libcore/base/text.h"
#include "pipelines/model_runs/report.h"

namespace voxshard {
namespace {

using Json = nlohmann::ordered_json;

Json number_json(double value) {
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return json_number(value);
}

}  // namespace

ScoreSpread::ScoreSpread(std::vector<std::string> names, const std::vector<std::vector<ClassScore>>& scores)
    : names_(std::move(names)) {
  for (std::size_t i = 0; i < scores.size(); ++i)
    for (const ClassScore& score : scores[i]) {
      auto row = std::ranges::find_if(
          rows_, [&](const Row& r) { return r.scored == score.scored && r.metric == score.metric; });
      if (row == rows_.end())
        row = rows_.insert(row, {.scored = score.scored,
                                 .metric = score.metric,
                                 .digits = score.digits,
                                 .values = std::vector<double>(scores.size(), std::nan(""))});
      row->values[i] = score.value;
    }
}

std::string ScoreSpread::to_text() const {
  std::vector<std::vector<std::string>> table = {{"class", "metric", "n", "mean", "deviation", "least", "largest"}};
  for (const std::string& name : names_) table[0].push_back(shown_name(name));
  for (const Row& row : rows_) {
    const Spread s = row.spread();
    std::vector<std::string>& line = table.emplace_back();
    line = {row.scored.empty() ? "all" : shown_name(row.scored), row.metric, std::to_string(s.n)};
    for (const double value : {s.mean, s.deviation, s.least, s.largest}) line.push_back(fixed_text(value, row.digits));
    for (const double value : row.values) line.push_back(fixed_text(value, row.digits));
  }
  return text_table(table);
}

Json ScoreSpread::to_json() const {
  Json json = Json::array();
  for (const Row& row : rows_) {
    const Spread s = row.spread();
    Json& one = json.emplace_back(Json{{"class", row.scored.empty() ? Json() : Json(row.scored)},
                                       {"metric", row.metric},
                                       {"n", s.n},
                                       {"mean", number_json(s.mean)},
                                       {"deviation", number_json(s.deviation)},
                                       {"least", number_json(s.least)},
                                       {"largest", number_json(s.largest)},
                                       {"values", Json::array()}});
    for (const double value : row.values) one["values"].push_back(number_json(value));
  }
  return json;
}

std::string ScoreSpread::to_csv() const {
  std::string text = kSpreadCsvHead;
  for (const std::string& name : names_) text += "," + csv_text(name);
  text += "\n";
  for (const Row& row : rows_) {
    const Spread s = row.spread();
    text += csv_text(row.scored) + "," + csv_text(row.metric) + "," + std::to_string(s.n);
    for (const double value : {s.mean, s.deviation, s.least, s.largest}) text += "," + csv_text(value);
    for (const double value : row.values) text += "," + csv_text(value);
    text += "\n";
  }
  return text;
}

}  // namespace voxshard
