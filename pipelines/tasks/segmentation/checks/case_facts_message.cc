#include "pipelines/tasks/segmentation/checks/case_facts_message.h"

#include <nlohmann/json.hpp>

namespace voxshard {
namespace {

using Json = nlohmann::ordered_json;

Json grid_message(const GridFacts& grid) {
  const Geometry& g = grid.geometry;
  return {grid.file, g.size, g.origin, g.spacing, g.direction};
}

GridFacts grid_of_message(const Json& message) {
  GridFacts grid;
  message.at(0).get_to(grid.file);
  message.at(1).get_to(grid.geometry.size);
  message.at(2).get_to(grid.geometry.origin);
  message.at(3).get_to(grid.geometry.spacing);
  message.at(4).get_to(grid.geometry.direction);
  return grid;
}

template <class Value>
Json optional_message(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

std::optional<double> optional_number(const Json& message) {
  return message.is_null() ? std::nullopt : std::optional(message.get<double>());
}

Json class_message(int label_class, const ClassFacts& c) {
  return {label_class, c.voxels, c.volume_ml, c.centre_mm, c.spread_mm, optional_message(c.mean_hu)};
}

ClassFacts class_of_message(const Json& message) {
  ClassFacts c;
  message.at(1).get_to(c.voxels);
  message.at(2).get_to(c.volume_ml);
  message.at(3).get_to(c.centre_mm);
  message.at(4).get_to(c.spread_mm);
  c.mean_hu = optional_number(message.at(5));
  return c;
}

Json fit_message(const BorderFit& fit) {
  Json peak = Json::array();
  for (const auto& place : fit.peak) peak.push_back(optional_message(place));
  return {fit.contrast, fit.best_contrast, fit.shift, peak, fit.faces};
}

BorderFit fit_of_message(const Json& message) {
  BorderFit fit;
  message.at(0).get_to(fit.contrast);
  message.at(1).get_to(fit.best_contrast);
  message.at(2).get_to(fit.shift);
  for (std::size_t axis = 0; axis < 3; ++axis) fit.peak[axis] = optional_number(message.at(3).at(axis));
  message.at(4).get_to(fit.faces);
  return fit;
}

}  // namespace

Json facts_message(const CaseFacts& facts) {
  Json message = {{"id", facts.id},
                  {"part", facts.part},
                  {"problems", to_json(facts.problems)},
                  {"images", Json::array()},
                  {"label", nullptr},
                  {"label_is_read", facts.label_is_read},
                  {"wrong_voxels", facts.wrong_voxels},
                  {"first_wrong", facts.first_wrong},
                  {"classes", Json::array()},
                  {"hu", nullptr},
                  {"fit", nullptr},
                  {"image_hashes", facts.image_hashes},
                  {"label_hash", facts.label_hash}};
  for (const GridFacts& image : facts.images) message["images"].push_back(grid_message(image));
  if (facts.label) message["label"] = grid_message(*facts.label);
  for (const auto& [label_class, one] : facts.classes) message["classes"].push_back(class_message(label_class, one));
  if (facts.hu) message["hu"] = std::array{facts.hu->low, facts.hu->high};
  if (facts.fit) message["fit"] = fit_message(*facts.fit);
  return message;
}

CaseFacts facts_of_message(const Json& message) {
  CaseFacts facts{.id = message.at("id"), .part = message.at("part")};
  facts.problems = failures_from_json(message.at("problems"));
  for (const Json& image : message.at("images")) facts.images.push_back(grid_of_message(image));
  if (const Json& label = message.at("label"); !label.is_null()) facts.label = grid_of_message(label);
  message.at("label_is_read").get_to(facts.label_is_read);
  message.at("wrong_voxels").get_to(facts.wrong_voxels);
  message.at("first_wrong").get_to(facts.first_wrong);
  for (const Json& one : message.at("classes")) facts.classes[one.at(0).get<int>()] = class_of_message(one);
  if (const Json& hu = message.at("hu"); !hu.is_null())
    facts.hu = HuRange{hu.at(0).get<float>(), hu.at(1).get<float>()};
  if (const Json& fit = message.at("fit"); !fit.is_null()) facts.fit = fit_of_message(fit);
  message.at("image_hashes").get_to(facts.image_hashes);
  message.at("label_hash").get_to(facts.label_hash);
  return facts;
}

}  // namespace voxshard
