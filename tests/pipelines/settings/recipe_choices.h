// One choice of the recipe, for its tests.
#pragma once

#include "pipelines/settings/recipe.h"

namespace voxshard {

/// Returns the choice for an option; empty where there is none.
inline Choice choice_of(const RecipeFacts& facts, const std::string& option) {
  for (const Choice& choice : recipe(facts))
    if (choice.option == option) return choice;
  return {};
}
/// Returns the value of that choice as it is printed.
inline std::string value_of(const RecipeFacts& facts, const std::string& option) {
  return choice_of(facts, option).shown();
}

}  // namespace voxshard
