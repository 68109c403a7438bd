#include "apps/words/typos.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "libcore/base/spelling.h"

namespace voxshard {
namespace {

std::vector<std::string> long_options(const CLI::App& app) {
  std::vector<std::string> names;
  for (const auto* option : app.get_options())
    for (const auto& name : option->get_lnames()) names.push_back(name);
  return names;
}

/// Names that other programs use for our options.
constexpr struct {
  const char *name, *ours;
} kElsewhere[] = {
    {"lr", "--learning-rate"}, {"batch-size", "--batch"}, {"num-epochs", "--epochs"},
    {"iterations", "--steps"}, {"workers", "--threads"},
};

/// Options of other programs for what a subcommand does by itself.
constexpr struct {
  const char *command, *name, *text;
} kByItself[] = {
    {"predict", "skip-existing", "leave it out: what is predicted already is kept, by the hash of its content"},
    {"predict", "continue_prediction", "leave it out: the same call goes on where one was cut short"},
    {"predict", "resume", "leave it out: the same call goes on where one was cut short"},
};

/// Suggests an option for a name that `app` does not have: one of its own, another program's name, or another
/// subcommand's; or none, where the subcommand does so by itself.
std::string option_meant(const CLI::App& app, const CLI::App& root, const std::string& name) {
  for (const auto& [command, theirs, text] : kByItself)
    if (name == theirs && app.get_name() == command) return std::string("; ") + text;
  if (const auto likely = likely_name(name, long_options(app))) return "; did you mean --" + *likely + "?";
  for (const auto& [theirs, ours] : kElsewhere)
    if (name == theirs && app.get_option_no_throw(ours) != nullptr) return std::string("; here it is ") + ours;
  std::string others;
  for (const auto* other : root.get_subcommands([](const CLI::App*) { return true; }))
    if (other->get_option_no_throw("--" + name) != nullptr) others += (others.empty() ? "" : ", ") + other->get_name();
  return others.empty() ? "" : "; it is an option of " + others;
}

std::string meant(const std::string& word, const std::vector<std::string>& names) {
  const auto likely = likely_name(word, names);
  return likely ? "; did you mean " + *likely + "?" : "";
}

}  // namespace

std::optional<std::string> typo_text(const std::vector<std::string>& words, const CLI::App& root) {
  const auto apps = root.get_subcommands([](const CLI::App*) { return true; });
  const CLI::App* app = &root;
  for (const std::string& word : words) {
    if (word == "--") break;  // the words that follow are values
    if (word.starts_with("--")) {
      const std::string name = word.substr(2, word.find('=') - 2);
      const auto names = long_options(*app);
      if (std::find(names.begin(), names.end(), name) != names.end()) continue;
      const std::string whose = app == &root ? "voxshard" : app->get_name();
      return whose + " has no option --" + name + option_meant(*app, root, name);
    }
    if (app != &root || word.starts_with("-")) continue;
    const auto found = std::find_if(apps.begin(), apps.end(), [&](const auto* a) { return a->get_name() == word; });
    if (found != apps.end()) {
      app = *found;
      continue;
    }
    std::vector<std::string> names;
    for (const auto* a : apps) names.push_back(a->get_name());
    return "there is no subcommand " + word + meant(word, names);
  }
  return std::nullopt;
}

std::string refusal_text(const CLI::ParseError& refusal, const CLI::App& root) {
  const std::string text = refusal.what();
  const auto chosen = root.get_subcommands();
  if (dynamic_cast<const CLI::RequiredError*>(&refusal) == nullptr || chosen.empty()) return text;
  const std::string examples = chosen.front()->get_footer(), heading = "Example:\n  ";
  if (!examples.starts_with(heading)) return text;
  return text + ", as in: " + examples.substr(heading.size(), examples.find('\n', heading.size()) - heading.size());
}

}  // namespace voxshard
