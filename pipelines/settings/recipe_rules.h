// Rules of the recipe: one table for each kind of training data.
#pragma once

#include <span>

#include "pipelines/settings/recipe.h"

namespace voxshard {

/// A value with its reason, for the facts at hand; empty: the reference's value is as good.
struct Chosen {
  SettingValue value;
  std::string reason;
  std::string text = {};  // text for people; empty: value_text(value)
};

struct Rule {
  const char* option;
  bool of_model;  // true: a field of the model's config, which the model may lack
  std::optional<Chosen> (*choose)(const RecipeFacts&);
};

/// The tables, one line per setting, for data that stay valid.
std::span<const Rule> rules_of_volumes();
std::span<const Rule> rules_of_boxes();
std::span<const Rule> rules_of_classes();

inline Chosen chosen_word(const char* value, std::string reason) { return {std::string(value), std::move(reason)}; }
inline bool is_adam(const RecipeFacts& facts) { return facts.optimizer == OptimizerKind::kAdam; }
inline bool is_sgd(const RecipeFacts& facts) { return facts.optimizer == OptimizerKind::kSgd; }
/// Returns "1 step" or "N steps".
std::string steps_text(std::int64_t steps);
/// Returns how often each case is seen in the training; empty where the number of cases is not known.
std::optional<std::int64_t> samples_of_a_case(const RecipeFacts& facts);
/// Chooses the steps of the warm-up.
std::optional<Chosen> warmup_rule(const RecipeFacts& facts);

}  // namespace voxshard
