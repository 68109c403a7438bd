#include "pipelines/settings/recipe.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "libcore/base/text.h"
#include "pipelines/settings/recipe_rules.h"

namespace voxshard {
namespace {

using Json = nlohmann::ordered_json;

std::optional<Chosen> precision(const RecipeFacts& f) {
  if (!f.precision) return std::nullopt;
  const PrecisionFacts& p = *f.precision;
  const bool measured = p.bf16_step_s && p.f32_step_s;
  const std::string times = measured ? "a step in bf16 takes " + fixed_text(*p.bf16_step_s / *p.f32_step_s, 2) +
                                           " of one in f32, by what doctor measured here"
                                     : "";
  if (measured ? *p.bf16_step_s < *p.f32_step_s : p.multiplies_bf16)
    return chosen_word("bf16", measured ? times : "this processor multiplies bf16 (" + p.instructions + ")");
  if (!p.f32_fits) return chosen_word("bf16", "f32 would be faster here, but " + p.f32_refusal);
  return chosen_word("f32", measured ? times
                                     : "this processor (" + p.instructions +
                                           ") has no multiplication of bf16: it would only be slower");
}

constexpr Rule kRulesOfAll[] = {{"precision", false, precision}};

struct Table {
  std::string_view data;  // only for models of this kind of data; empty: for all
  std::span<const Rule> rules;
};
std::array<Table, 4> tables() {
  return {{{kVoxelLabels, rules_of_volumes()},
           {kBoxes, rules_of_boxes()},
           {kClassLabels, rules_of_classes()},
           {"", kRulesOfAll}}};
}

}  // namespace

std::string steps_text(std::int64_t steps) { return std::to_string(steps) + (steps == 1 ? " step" : " steps"); }

std::optional<std::int64_t> samples_of_a_case(const RecipeFacts& facts) {
  if (facts.cases == 0) return std::nullopt;
  return facts.steps * facts.batch / facts.cases;
}

std::optional<Chosen> warmup_rule(const RecipeFacts& f) {
  constexpr std::int64_t kMost = 100;
  const std::int64_t steps = std::min(kMost, f.steps / 10);
  if (steps < 1) return std::nullopt;
  return Chosen{steps, steps == kMost ? "the first steps are the roughest"
                                      : "a tenth of " + steps_text(f.steps) + ": the first ones are the roughest"};
}

std::vector<std::string> recipe_options(std::string_view data) {
  std::vector<std::string> options;
  for (const Table& table : tables())
    if (data.empty() || table.data.empty() || table.data == data)
      for (const Rule& rule : table.rules)
        if (std::ranges::count(options, rule.option) == 0) options.emplace_back(rule.option);
  return options;
}

std::vector<Choice> recipe(const RecipeFacts& facts) {
  std::vector<Choice> choices;
  for (const Table& table : tables()) {
    if (!table.data.empty() && table.data != facts.data) continue;
    for (const Rule& rule : table.rules) {
      if (rule.of_model && std::ranges::count(facts.fields, rule.option) == 0) continue;
      if (const auto chosen = rule.choose(facts))
        choices.push_back({rule.option, chosen->value, chosen->reason, chosen->text});
    }
  }
  return choices;
}

std::vector<Choice> usual_training(const Model& model, std::int64_t replicas) {
  const UsualTraining& usual = model.usual;
  std::vector<Choice> choices;
  if (usual.batch > 0)
    choices.push_back({"batch", usual.batch * replicas,
                       (replicas > 1 ? std::to_string(usual.batch) + " for each replica: " : "") + usual.reason});
  for (const UsualTraining::Value& row : usual.others)
    choices.push_back(
        {row.setting, std::visit([](const auto& value) { return SettingValue(value); }, row.value), row.reason});
  return choices;
}

Json to_json(const std::vector<Choice>& choices) {
  Json json = Json::array();
  for (const Choice& c : choices) json.push_back({{"option", c.option}, {"value", c.shown()}, {"reason", c.reason}});
  return json;
}

std::vector<Choice> choices_from_json(const nlohmann::json& json) {
  std::vector<Choice> choices;
  try {
    if (!json.is_array()) throw Error(ErrorKind::kCheckpoint, "[checkpoint] its recipe is broken: not a list");
    for (const nlohmann::json& row : json)
      choices.push_back({row.at("option").get<std::string>(), row.at("value").get<std::string>(),
                         row.at("reason").get<std::string>()});
  } catch (const nlohmann::json::exception& e) {
    throw Error(ErrorKind::kCheckpoint, std::string("[checkpoint] its recipe is broken: ") + e.what());
  }
  return choices;
}

}  // namespace voxshard
