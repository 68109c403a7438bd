// What a user may say to a task beyond what every task is told: the values stand in structs of the task's own, and a
// row per value says its name, help and range, for the command line and config files.
//
//   TaskOptions options;
//   options.of<VolumeTaskOptions>().fold = "all";
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

/// What the extents of whole samples may be padded to a multiple of.
inline constexpr NumberRange kPadMultiples{1, 4096};

/// One row. Tasks that share a name are told the same value; the help is that of the first.
struct Setting {
  using FromText = std::function<void(const std::string&)>;  // sets the value. Errors: kUsage, kConfig
  using Value = std::variant<std::string*, std::filesystem::path*, double*, std::int64_t*, std::optional<std::int64_t>*,
                             std::array<double, 2>*, FromText>;

  std::string name;   // long, without dashes
  std::string help;   // one sentence
  std::string group;  // where help lists it; empty: with the command's own
  Value value;
  std::optional<NumberRange> range;                // of a number, which has one
  std::vector<std::string> choices;                // of a text; empty: any
  bool tells_default = true;                       // help shows what holds when nothing is said
};

/// A setting that was given, and the tasks that have it.
struct GivenSetting {
  std::string name;
  std::vector<std::string> tasks;
};

/// What a task said to a value that it shares with others; it counts when the task is the one that runs.
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

/// "0.5,1" and "64x64x64" for help: the value that a setting has now; empty when there is none to tell.
std::string value_text(const Setting& setting);

/// Errors: kUsage for the first number that is out of its range, or not finite.
void require_in_range(const std::vector<Setting>& settings);

/// "64x64x64" -> {64, 64, 64}; "whole" -> {}. Errors: kConfig.
Dims crop_from_text(const std::string& text, int axes);

}  // namespace voxshard
