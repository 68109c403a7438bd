// The settings of one command: its rows, and for each row the current value and the layer that gave it. A higher layer
// wins, in whatever order the values are given. The parser of the command line fills its layer like any other.
//
//   Settings settings;
//   settings.add({"clip-norm", "Clip the gradient to this global norm", "Training", &o.clip_norm});
//   settings.say(Layer::kCommandLine, "clip-norm", {"2"});
//   settings.say(Layer::kRecipe, {"clip-norm", 1.0, "one crop must not undo the steps before it"});   // false: 2 holds
//   settings.layer("clip-norm");                                                                      // kCommandLine
#pragma once

#include <deque>
#include <nlohmann/json_fwd.hpp>
#include <set>

#include "pipelines/settings/setting.h"

namespace voxshard {

/// The layers that give values, from the lowest to the highest; a higher one wins.
enum class Layer {
  kDefault,      // the row's own default
  kModel,        // the usual training values of the model
  kRecipe,       // chosen for the data, the batch, the steps and the processor
  kRun,          // the values that a resumed run began with
  kConfig,       // the config file
  kCommandLine,  // the command line
};
const char* layer_name(Layer layer);  // "command line"

/// A value that was chosen for a setting, and the reason.
struct Choice {
  std::string option;  // the setting's name
  SettingValue value = std::string();
  std::string reason;
  std::string text = {};  // the value as people read it, such as "0.950"; empty: value_text(value)

  std::string shown() const { return text.empty() ? value_text(value) : text; }
};

/// The given words, by the name of the setting: run.json keeps them for resuming.
using GivenOptions = std::map<std::string, std::vector<std::string>>;

class Settings {
 public:
  using Words = std::vector<std::string>;

  /// The rows of one name, which get the same value: one row, or one for each task that has this setting.
  struct Entry {
    std::vector<Setting> rows;
    Words tasks = {};                         // task of each row; empty: the command's own setting
    TaskOptions* options = nullptr;           // options of these tasks
    std::string usual = {};                   // default as help shows it
    std::optional<SettingValue> first = {};   // the value when the rows were added
    std::optional<SettingValue> unsaid = {};  // the value before one was given, of a field that of the chosen model
    Layer layer = Layer::kDefault;
    Words words = {};  // the given words; empty: not given
    std::string reason = {};

    const Setting& row() const { return rows.front(); }
    const std::string& name() const { return rows.front().name; }
    bool is_said() const { return !words.empty(); }
    /// The help of the row, or of each task where they differ.
    std::string help() const;
  };

  Settings() = default;
  Settings(const Settings&) = delete;  // rows are bound to values outside of this object
  Settings& operator=(const Settings&) = delete;

  void add(Setting row);
  void add(std::vector<Setting> rows);
  /// Adds a row of a task. `options` records which settings were given to which tasks, and which ones a task refused.
  void add(Setting row, const std::string& task, TaskOptions& options);

  const std::deque<Entry>& entries() const { return entries_; }
  /// Returns the setting of this name; null when there is none.
  const Entry* find(const std::string& name) const;
  bool is_said(const std::string& name) const;
  Layer layer(const std::string& name) const;

  /// Gives a value; returns false when a higher layer has given one, or there is no such setting. Errors: kUsage for a
  /// value that the row does not accept; those of the row.
  bool say(Layer layer, const std::string& name, const Words& words);
  bool say(Layer layer, const Choice& choice);
  /// Restores the value from before one was given.
  void withdraw(const std::string& name);
  /// Moves the values of these names from the layer of the command line to that of the config file.
  void came_from_config(const std::set<std::string>& names);
  /// Makes help show "auto (reference: 0.001)" for these names: they are chosen when they are not given.
  void show_as_chosen(const Words& names);

  /// Returns the given words, except of settings for one call only; paths are absolute.
  GivenOptions given() const;
  /// Returns the layer of each of these settings, by its name.
  nlohmann::ordered_json layers() const;

 private:
  Entry* entry(const std::string& name);
  bool take(Layer layer, Entry& entry, Words words, const SettingValue& value);

  std::deque<Entry> entries_;  // a deque: the parser of the command line refers to them
};

}  // namespace voxshard
