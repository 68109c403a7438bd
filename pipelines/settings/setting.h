// A setting: an option that a user may give to a command. It is one row with its name, type, range or choices, default
// and help; the row is bound to the value that the command reads. Training, models, plans, TPUConfig and tasks all use
// such rows. settings.h keeps track of which ones were given, and by which layer.
//
//   double clip = 0;
//   const Setting row{"clip-norm", "Clip the gradient to this global norm", "Training", &clip, {{0, 1e38}}};
//   set_value(row, *parsed(row, {"1.5"}));                    // clip is 1.5
//   task.settings(TaskCommand::kTrain, options)[0].name;      // "crop"; its value is bound to `options`
#pragma once

#include <any>
#include <array>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <typeindex>
#include <variant>
#include <vector>

#include "libcore/base/number_range.h"
#include "libcore/tensor/shape.h"

namespace voxshard {

enum class TaskCommand { kCheck, kPrepare, kTrain, kPredict, kEvaluate };

/// Range of the number to whose multiples the extents of whole samples are padded.
inline constexpr NumberRange kPadMultiples{1, 4096};
/// Range of seeds; needed because parsing an unsigned number of 64 bits would also accept -1.
inline constexpr NumberRange kSeeds{0, 0x1p63};

/// A value of a setting, whatever its type.
using SettingValue = std::variant<bool, std::int64_t, std::uint64_t, double, std::string, std::vector<std::int64_t>,
                                  std::vector<double>>;
/// "0.004", "10,20", "true": text that parsed() reads back as the same value.
std::string value_text(const SettingValue& value);

/// One row. Settings of several tasks with the same name get the same value.
struct Setting {
  using FromText = std::function<void(const std::string&)>;  // sets the value. Errors: kUsage, kConfig
  /// A value that is read and written by functions, such as the name of an enum. `get` also determines the type.
  struct Access {
    std::function<SettingValue()> get;
    std::function<void(const SettingValue&)> set;
  };
  using Value =
      std::variant<std::string*, std::filesystem::path*, double*, std::int64_t*, std::optional<std::int64_t>*,
                   std::array<double, 2>*, bool*, std::uint64_t*, std::vector<std::int64_t>*, FromText, Access>;

  std::string name;   // long, without dashes
  std::string help;   // one sentence; other settings are written {name}
  std::string group;  // heading in the help; empty: with the command's own options
  Value value;
  std::optional<NumberRange> range = {};      // allowed range; required for a number
  std::vector<std::string> choices = {};      // allowed texts; empty: any
  bool tells_default = true;                  // true: help shows the default
  std::string usual = {};                     // default as help shows it; empty: the value
  std::string type = {};                      // type as help shows it, such as DEVICE; empty: by the value
  std::vector<std::string> other_names = {};  // such as those of the original
  std::vector<std::string> excludes = {};     // settings that may not be given together with it
  bool of_one_call = false;                   // true: not kept for a resumed run
  bool decides = false;                       // true: changes the result of the run, so checkpoints keep it
  std::function<std::string(const std::string&)> meaning = {};  // replaces a given word by the one that it stands for
  std::function<std::string(const std::string&)> kept = {};     // the word as a run keeps it, valid from any folder
};

/// Gives access to an enum that counts from 0, or a bool, by its names.
template <class Enum>
Setting::Access named(Enum& value, std::vector<std::string> names) {
  return {.get = [&value, names] { return SettingValue(names.at(static_cast<std::size_t>(value))); },
          .set =
              [&value, names](const SettingValue& name) {
                for (std::size_t i = 0; i < names.size(); ++i)
                  if (names[i] == std::get<std::string>(name)) value = static_cast<Enum>(i);
              }};
}

/// Returns a value of the row's type; text for a row with FromText.
SettingValue example_of(const Setting& row);
/// Returns the current value; none for a row with FromText, or an optional value that is not set.
std::optional<SettingValue> value_of(const Setting& row);
/// Parses a user's words as a value of the row's type; none when they are not valid.
std::optional<SettingValue> parsed(const Setting& row, const std::vector<std::string>& words);
/// Converts `value` to the row's type: whole numbers are numbers too, text is parsed, and any value becomes text. None
/// when it cannot be converted.
std::optional<SettingValue> converted(const Setting& row, const SettingValue& value);
/// Sets a value of the row's type. Errors: those of FromText.
void set_value(const Setting& row, const SettingValue& value);

/// Return "-1 is not in 0 to 100", "adma not in {adam,sgd}; did you mean adam?"; empty for a word that the row accepts.
/// A word that is no number passes here: parsed() refuses it.
std::string range_problem(const NumberRange& range, const std::string& word);
std::string choice_problem(const std::vector<std::string>& choices, const std::string& word);
std::string problem(const Setting& row, const std::string& word);
/// "{adam,sgd}".
std::string choices_text(const std::vector<std::string>& choices);

/// Returns the current value of a setting for help, "0.5,1" or "64x64x64"; empty when there is none.
std::string default_text(const Setting& row);

/// Throws kUsage for the first number that is out of its range, or not finite.
void require_in_range(const std::vector<Setting>& settings);

/// A setting that was given, and the tasks that have it.
struct GivenSetting {
  std::string name;
  std::vector<std::string> tasks;
};

/// An error of a task that refused a value which it shares with others; it is thrown only if this task runs.
struct RefusedSetting {
  std::string task;
  Error error;
};

/// The options of every task: structs by their type, made with their defaults at first access.
class TaskOptions {
 public:
  template <class Options>
  Options& of() {
    std::any& value = values_[typeid(Options)];
    if (!value.has_value()) value = Options{};
    return *std::any_cast<Options>(&value);
  }
  template <class Options>
  Options of() const {
    const auto it = values_.find(typeid(Options));
    return it == values_.end() ? Options{} : *std::any_cast<Options>(&it->second);
  }

  std::vector<GivenSetting> given;
  std::vector<RefusedSetting> refused;

 private:
  std::map<std::type_index, std::any> values_;
};

/// "64x64x64" -> {64, 64, 64}; "whole" -> {}. Errors: kConfig.
Dims crop_from_text(const std::string& text, int axes);

}  // namespace voxshard
