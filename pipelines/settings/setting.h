// A setting: something that a user may say to a command. It is one row with its name, type, range or choices, default
// and help; the row is bound to the value that the command reads. Rows of the training, of models, of plans, of
// TPUConfig and of tasks are all of this kind. settings.h knows which of them were said, and by which layer.
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

enum class TaskCommand { kPrepare, kTrain, kPredict, kEvaluate };

/// The extents of whole samples may be padded to a multiple of such a number.
inline constexpr NumberRange kPadMultiples{1, 4096};
/// An unsigned number of 64 bits as text would also take -1.
inline constexpr NumberRange kSeeds{0, 0x1p63};

/// A value of a setting, whatever its type.
using SettingValue = std::variant<bool, std::int64_t, std::uint64_t, double, std::string, std::vector<std::int64_t>,
                                  std::vector<double>>;
/// "0.004", "10,20", "true": text that parsed() reads back as the same value.
std::string value_text(const SettingValue& value);

/// One row. Tasks that share a name are told the same value.
struct Setting {
  using FromText = std::function<void(const std::string&)>;  // sets the value. Errors: kUsage, kConfig
  /// A value that stands behind functions, such as the name of an enum. `get` also tells the type.
  struct Access {
    std::function<SettingValue()> get;
    std::function<void(const SettingValue&)> set;
  };
  using Value =
      std::variant<std::string*, std::filesystem::path*, double*, std::int64_t*, std::optional<std::int64_t>*,
                   std::array<double, 2>*, bool*, std::uint64_t*, std::vector<std::int64_t>*, FromText, Access>;

  std::string name;   // long, without dashes
  std::string help;   // one sentence; other settings are written {name}
  std::string group;  // where help lists it; empty: with the command's own
  Value value;
  std::optional<NumberRange> range = {};      // of a number, which has one
  std::vector<std::string> choices = {};      // of a text; empty: any
  bool tells_default = true;                  // help shows what holds when nothing is said
  std::string usual = {};                     // what help shows in place of the value; empty: the value
  std::string type = {};                      // what help calls its type, such as DEVICE; empty: by the value
  std::vector<std::string> other_names = {};  // such as those of the original
  std::vector<std::string> excludes = {};     // settings that may not be said beside it
  bool of_one_call = false;                   // a run does not keep it for those who resume it
  bool decides = false;                       // another value makes another run: checkpoints keep it
  std::function<std::string(const std::string&)> meaning = {};  // the word that a word stands for
  std::function<std::string(const std::string&)> kept = {};     // the word as a run keeps it, wherever the run goes on
};

/// An enum that counts from 0, as a name.
template <class Enum>
Setting::Access named(Enum& value, std::vector<std::string> names) {
  return {.get = [&value, names] { return SettingValue(names.at(static_cast<std::size_t>(value))); },
          .set =
              [&value, names](const SettingValue& name) {
                for (std::size_t i = 0; i < names.size(); ++i)
                  if (names[i] == std::get<std::string>(name)) value = static_cast<Enum>(i);
              }};
}

/// A type that a value has, by an example; text for what only FromText knows.
SettingValue example_of(const Setting& row);
/// The value that holds now; none for what only FromText knows, or that nobody said.
std::optional<SettingValue> value_of(const Setting& row);
/// The words of a user as a value of the row's type; none when they are no such value.
std::optional<SettingValue> parsed(const Setting& row, const std::vector<std::string>& words);
/// `value` as one of the row's type: whole numbers are numbers too, text is parsed, and any value is text. None when it
/// is no such value.
std::optional<SettingValue> converted(const Setting& row, const SettingValue& value);
/// Sets a value of the row's type. Errors: those of FromText.
void set_value(const Setting& row, const SettingValue& value);

/// "-1 is not in 0 to 100", "adma not in {adam,sgd}; did you mean adam?"; empty for a word that the row takes. What is
/// no number passes here: parsed() refuses it.
std::string range_problem(const NumberRange& range, const std::string& word);
std::string choice_problem(const std::vector<std::string>& choices, const std::string& word);
std::string problem(const Setting& row, const std::string& word);
/// "{adam,sgd}".
std::string choices_text(const std::vector<std::string>& choices);

/// "0.5,1" and "64x64x64" for help: the value that a setting has now; empty when there is none to tell.
std::string default_text(const Setting& row);

/// Errors: kUsage for the first number that is out of its range, or not finite.
void require_in_range(const std::vector<Setting>& settings);

/// A setting that was given, and the tasks that have it.
struct GivenSetting {
  std::string name;
  std::vector<std::string> tasks;
};

/// A task refused a value that it shares with others; the refusal counts when the task is the one that runs.
struct RefusedSetting {
  std::string task;
  Error error;
};

/// The options of every task: structs by their type, made with their defaults when they are first asked for.
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
