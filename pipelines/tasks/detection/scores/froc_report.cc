#include "pipelines/tasks/detection/scores/froc_report.h"

#include <nlohmann/json.hpp>

#include "io/files/csv.h"
#include "libcore/base/text.h"

namespace voxshard {
namespace {

using Json = nlohmann::ordered_json;

Json curve_json(const FrocCurve& curve) {
  Json json = {{"CPM", curve.cpm()}, {"objects", curve.objects}, {"sensitivity", Json::object()}};
  for (const double rate : kFalsePositivesPerImage) json["sensitivity"][number_text(rate)] = curve.sensitivity_at(rate);
  return json;
}

std::vector<std::string> row_of(const std::string& name, const FrocCurve& curve) {
  std::vector<std::string> row = {name, std::to_string(curve.objects), fixed_text(curve.cpm())};
  for (const double value : curve.sensitivities()) row.push_back(fixed_text(value));
  return row;
}

void add_rows(std::string& csv, const std::string& name, const FrocCurve& curve) {
  for (const FrocPoint& point : curve.points)
    csv += csv_text(name) + "," + csv_text(point.score) + "," + csv_text(point.false_positives_per_image) + "," +
           csv_text(point.sensitivity) + "\n";
}

}  // namespace

Json froc_json(const Froc& froc, const std::vector<std::string>& classes) {
  Json json = curve_json(froc.all);
  json["mean_class_CPM"] = froc.mean_class_cpm();
  json["rule"] = rules_of(froc.options) + "; -1: no such object";
  json["classes"] = Json::array();
  for (std::size_t c = 0; c < froc.classes.size(); ++c) {
    Json one = {{"name", classes.at(c)}};
    one.update(curve_json(froc.classes[c]));
    json["classes"].push_back(std::move(one));
  }
  return json;
}

std::string froc_text(const Froc& froc, const std::vector<std::string>& classes) {
  std::vector<std::vector<std::string>> rows = {{"sensitivity at false positives per image", "objects", "CPM"}};
  for (const double rate : kFalsePositivesPerImage) rows[0].push_back(number_text(rate));
  for (std::size_t c = 0; c < froc.classes.size(); ++c) rows.push_back(row_of(classes.at(c), froc.classes[c]));
  rows.push_back(row_of("all classes together", froc.all));
  return text_table(rows) + "mean CPM of the classes " + fixed_text(froc.mean_class_cpm()) + "; " +
         rules_of(froc.options) + "\n";
}

std::string froc_csv(const Froc& froc, const std::vector<std::string>& classes) {
  std::string csv = kFrocCsvHead + std::string("\n");
  add_rows(csv, "", froc.all);
  for (std::size_t c = 0; c < froc.classes.size(); ++c) add_rows(csv, classes.at(c), froc.classes[c]);
  return csv;
}

}  // namespace voxshard
