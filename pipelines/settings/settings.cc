#include "pipelines/settings/settings.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "libcore/base/text.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

Error refusal(const std::string& text) { return {ErrorKind::kUsage, "[usage] " + text}; }

std::string kept_word(const Setting& row, const std::string& word) {
  if (row.kept) return row.kept(word);
  return std::holds_alternative<fs::path*>(row.value) ? fs::absolute(word).lexically_normal().string() : word;
}

}  // namespace

const char* layer_name(Layer layer) {
  constexpr const char* kNames[] = {"default", "model", "recipe", "run", "config", "command line"};
  return kNames[static_cast<std::size_t>(layer)];
}

std::string Settings::Entry::help() const {
  Words texts, owners;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto known = std::ranges::find(texts, rows[i].help) - texts.begin();
    if (known == std::ssize(texts)) texts.push_back(rows[i].help), owners.emplace_back();
    if (i < tasks.size()) owners[known] += (owners[known].empty() ? "" : ", ") + tasks[i];
  }
  if (texts.size() == 1) return texts.front();
  std::string text;
  for (std::size_t i = 0; i < texts.size(); ++i) text += (i == 0 ? "" : "; ") + owners[i] + ": " + texts[i];
  return text;
}

Settings::Entry* Settings::entry(const std::string& name) {
  const auto it = std::ranges::find(entries_, name, &Entry::name);
  return it == entries_.end() ? nullptr : &*it;
}

const Settings::Entry* Settings::find(const std::string& name) const {
  return const_cast<Settings*>(this)->entry(name);
}

void Settings::add(Setting row) {
  ensure(find(row.name) == nullptr, "a setting has one row");
  Entry& added = entries_.emplace_back();
  added.usual = default_text(row), added.first = value_of(row);
  added.rows.push_back(std::move(row));
}

void Settings::add(std::vector<Setting> rows) {
  for (Setting& row : rows) add(std::move(row));
}

void Settings::add(Setting row, const std::string& task, TaskOptions& options) {
  Entry* shared = entry(row.name);
  if (shared == nullptr) {
    add(std::move(row));
    shared = &entries_.back();
    shared->options = &options;
  } else {
    shared->rows.push_back(std::move(row));
  }
  shared->tasks.push_back(task);
}

bool Settings::is_said(const std::string& name) const {
  const Entry* found = find(name);
  return found != nullptr && found->is_said();
}

Layer Settings::layer(const std::string& name) const {
  const Entry* found = find(name);
  return found == nullptr ? Layer::kDefault : found->layer;
}

bool Settings::say(Layer layer, const std::string& name, const Words& words) {
  Entry* found = entry(name);
  if (found == nullptr) return false;
  const Setting& row = found->row();
  Words meant = words;
  if (row.meaning) std::ranges::transform(meant, meant.begin(), row.meaning);
  for (const std::string& word : meant)
    if (const std::string text = problem(row, word); !text.empty()) throw refusal("{" + name + "}: " + text);
  const auto value = parsed(row, meant);
  if (!value) throw refusal("Could not convert: {" + name + "} = " + joined(meant, ","));
  return take(layer, *found, std::move(meant), *value);
}

bool Settings::say(Layer layer, const Choice& choice) {
  Entry* found = entry(choice.option);
  if (found == nullptr) return false;
  const auto value = converted(found->row(), choice.value);
  if (!value) throw refusal("Could not convert: {" + choice.option + "} = " + choice.shown());
  if (!take(layer, *found, {choice.shown()}, *value)) return false;
  found->reason = choice.reason;
  return true;
}

bool Settings::take(Layer layer, Entry& to, Words words, const SettingValue& value) {
  if (to.is_said() && to.layer > layer) return false;
  if (!to.is_said()) to.unsaid = value_of(to.row());
  to.layer = layer, to.words = std::move(words), to.reason.clear();
  if (to.options != nullptr) {
    std::erase_if(to.options->given, [&](const GivenSetting& given) { return given.name == to.name(); });
    to.options->given.push_back({to.name(), to.tasks});
  }
  for (std::size_t i = 0; i < to.rows.size(); ++i) try {
      if (const auto own = converted(to.rows[i], value)) set_value(to.rows[i], *own);
    } catch (const Error& error) {  // the task that refuses may not be the one that runs
      if (to.rows.size() == 1) throw;
      to.options->refused.push_back({to.tasks[i], error});
    }
  return true;
}

void Settings::withdraw(const std::string& name) {
  Entry* found = entry(name);
  if (found == nullptr || !found->is_said()) return;
  found->layer = Layer::kDefault, found->words.clear(), found->reason.clear();
  for (const Setting& row : found->rows)
    if (found->unsaid) set_value(row, *found->unsaid);
}

void Settings::came_from_config(const std::set<std::string>& names) {
  for (Entry& entry : entries_)
    if (entry.layer == Layer::kCommandLine && names.contains(entry.name())) entry.layer = Layer::kConfig;
}

void Settings::show_as_chosen(const Words& names) {
  for (const std::string& name : names)
    if (Entry* found = entry(name))
      found->usual = found->usual.empty() ? "auto" : "auto (reference: " + found->usual + ")";
}

GivenOptions Settings::given() const {
  GivenOptions given;
  for (const Entry& entry : entries_) {
    if (!entry.is_said() || entry.row().of_one_call) continue;
    for (const std::string& word : entry.words) given[entry.name()].push_back(kept_word(entry.row(), word));
  }
  return given;
}

nlohmann::ordered_json Settings::layers() const {
  nlohmann::ordered_json layers = nlohmann::ordered_json::object();
  for (const Entry& entry : entries_)
    if (entry.is_said() && !entry.row().of_one_call) layers[entry.name()] = layer_name(entry.layer);
  return layers;
}

}  // namespace voxshard
