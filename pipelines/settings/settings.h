// The settings of one command: its rows, and of each row the value that holds with the layer that said it. A higher
// layer wins, whichever speaks first. The parser of the command line fills its layer like any other.
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

/// The layers, from the lowest to the highest: each says values, and a higher one wins.
enum class Layer {
  kDefault,      // the row's own
  kModel,        // what the model is usually trained with
  kRecipe,       // chosen for the data, the batch, the steps and the processor
  kRun,          // what the run that goes on began with
  kConfig,       // the config file
  kCommandLine,  // what was typed
};
const char* layer_name(Layer layer);  // "command line"

/// A value that was chosen for a setting, and why.
struct Choice {
  std::string option;  // the setting's name
  SettingValue value = std::string();
  std::string reason;
  std::string text = {};  // the value as people read it, such as "0.950"; empty: value_text(value)

  std::string shown() const { return text.empty() ? value_text(value) : text; }
};

/// The words that were said, by the name of the setting: run.json keeps them for those who resume.
using GivenOptions = std::map<std::string, std::vector<std::string>>;

class Settings {
 public:
  using Words = std::vector<std::string>;

  /// The rows of one name, which are told the same value: one row, or one for each task that has it.
  struct Entry {
    std::vector<Setting> rows;
    Words tasks = {};                        // by row; empty: the command's own
    TaskOptions* options = nullptr;          // of those tasks
    std::string usual = {};                  // what help shows as default
    std::optional<SettingValue> first = {};  // the value before anybody said one
    Layer layer = Layer::kDefault;
    Words words = {};  // as they were said; empty: nothing was
    std::string reason = {};

    const Setting& row() const { return rows.front(); }
    const std::string& name() const { return rows.front().name; }
    bool is_said() const { return !words.empty(); }
    /// The help of the row, or of each task where they differ.
    std::string help() const;
  };

  Settings() = default;
  Settings(const Settings&) = delete;  // rows are bound to what stands beside them
  Settings& operator=(const Settings&) = delete;

  void add(Setting row);
  void add(std::vector<Setting> rows);
  /// A row of a task. `options` notes what was said to which tasks, and what a task refused.
  void add(Setting row, const std::string& task, TaskOptions& options);

  const std::deque<Entry>& entries() const { return entries_; }
  /// Null when there is no such setting.
  const Entry* find(const std::string& name) const;
  bool is_said(const std::string& name) const;
  Layer layer(const std::string& name) const;

  /// Says a value; false when a higher layer has said one, or there is no such setting. Errors: kUsage for what the row
  /// does not take; those of the row.
  bool say(Layer layer, const std::string& name, const Words& words);
  bool say(Layer layer, const Choice& choice);
  /// Restores the value that held before anybody said one.
  void withdraw(const std::string& name);
  /// Moves what the command line said for these names to the layer of the config file.
  void came_from_config(const std::set<std::string>& names);
  /// Help shows "auto (reference: 0.001)" for these names: they are chosen where nobody says them.
  void show_as_chosen(const Words& names);

  /// Returns what was said, but for what concerns one call only; paths are absolute.
  GivenOptions given() const;
  /// Returns the layer of each of those, by its name.
  nlohmann::ordered_json layers() const;

 private:
  Entry* entry(const std::string& name);
  bool take(Layer layer, Entry& entry, Words words, const SettingValue& value);

  std::deque<Entry> entries_;  // a deque: the parser of the command line refers to them
};

}  // namespace voxshard
