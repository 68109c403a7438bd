// The description of a model for the rest of the program: a row with its name, the function that builds its graph, and
// its config, field by field. The command line, config files, JSON, checkpoints and limits read only the rows of the
// fields.
//
//   const Model& unet = *model_named(model_table(), "unet2d");
//   std::any config = unet.config;                                   // a UNetConfig with its usual values
//   unet.fields[1].set(config, std::int64_t{3});                     // "depth"
//   Graph g = unet.build(config, {.size = {64, 64}}, op_table());
#pragma once

#include <algorithm>
#include <any>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "libcore/graph/builder.h"
#include "libcore/graph/recompute.h"

namespace voxshard {

/// A field's value as in JSON; the name of an enum's value.
using FieldValue = std::variant<bool, std::int64_t, double, std::string>;
std::string to_text(const FieldValue& value);

/// One field of a model's config, which is a struct in a std::any. field() makes it from a member.
struct ConfigField {
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  std::string name;                                                // its key in JSON and checkpoints
  std::string help;                                                // one sentence; options are written {name}
  double least = -kInfinity, most = kInfinity, below = kInfinity;  // limits of a number
  std::vector<std::string> names = {};                             // of an enum's values, which count from 0
  std::string option = {};                                     // the option's name for users; empty: `name` with dashes
  std::vector<std::pair<std::string, FieldValue>> words = {};  // words that users give instead of values; empty: none
  bool of_data = false;                                        // in training the data set determines it
  std::string from_data = {};  // the value that leaves it to the data set; the training task replaces it
  bool shapes = true;          // determines which tensors a checkpoint has
  bool newer = false;  // checkpoints that were written before it existed lack it: the model's usual value is theirs
  std::function<FieldValue(const std::any&)> get = {};
  std::function<void(std::any&, const FieldValue&)> set = {};  // Errors: kConfig for another type, name or number

  std::string option_name() const;
  /// Returns the value in `config` as users write it.
  std::string said(const std::any& config) const;
  /// Returns the value for one of `words`, or `value` itself.
  FieldValue meant(const FieldValue& value) const;
  /// Returns `value` converted to the type of `like`, within the limits. Errors: kConfig.
  FieldValue checked(const FieldValue& like, const FieldValue& value) const;
};

template <class Config, class T>
ConfigField field(T Config::*member, ConfigField row) {
  using Number = std::conditional_t<std::is_same_v<T, bool>, bool,
                                    std::conditional_t<std::is_integral_v<T>, std::int64_t, double>>;
  constexpr bool kText = std::is_enum_v<T> || std::is_same_v<T, std::string>;
  using Stored = std::conditional_t<kText, std::string, Number>;
  row.get = [member, names = row.names](const std::any& config) -> FieldValue {
    const T value = std::any_cast<const Config&>(config).*member;
    if constexpr (std::is_enum_v<T>)
      return names.at(static_cast<std::size_t>(value));
    else
      return Stored{value};
  };
  row.set = [member, limits = row](std::any& config, const FieldValue& said) {
    T& to = std::any_cast<Config&>(config).*member;
    const auto value = std::get<Stored>(limits.checked(Stored{}, said));
    if constexpr (std::is_enum_v<T>)
      to = static_cast<T>(std::ranges::find(limits.names, value) - limits.names.begin());
    else
      to = static_cast<T>(value);  // a text is stored as it is
  };
  return row;
}

/// Rows that models share.
template <class Config>
ConfigField base_filters_field(std::int64_t Config::*member) {
  return field(member, {.name = "base_filters",
                        .help = "Filters of the first convolution, doubled per level",
                        .least = 1,
                        .most = 4096});
}
template <class Config>
ConfigField norm_momentum_field(double Config::*member) {
  return field(member, {.name = "norm_momentum",
                        .help = "Of the running statistics; lower for runs of a few hundred steps",
                        .least = 0,
                        .below = 1,
                        .shapes = false});
}

/// Throws kConfig: `name` is not a valid `what`; lists the valid names.
[[noreturn]] void refuse_name(const std::string& what, std::string_view name, const std::vector<std::string>& names);

/// The purpose and the sizes that a graph is built for.
struct GraphOptions {
  std::int64_t batch = 1;
  Dims size;  // D H W or H W
  DType dtype = DType::kF32;
  bool training = true;  // with targets, loss and updates of the running statistics; else those statistics are used
  // running statistics, but targets, "loss", "loss_sums" (a row per part of the batch), and "labels" kept
  bool evaluating = false;
  std::int64_t norm_replicas = 1;  // norms use separate statistics in this many equal parts of the batch
  std::int64_t loss_replicas = 1;  // the loss is the mean over this many parts

  bool has_loss() const { return training || evaluating; }
};

/// Throws kConfig for a field out of its limits, a size with another number of axes or below 1, and a batch that the
/// replicas cannot share equally.
///   who  "unet", for the error
void check_graph(const std::string& who, const std::vector<ConfigField>& fields, const std::any& config,
                 const GraphOptions& options, int least_axes, int most_axes);

/// The training settings that a model uses by default: as published, or with the batch that it needs.
struct UsualTraining {
  struct Value {
    std::string setting;  // an option of `voxshard train`, without dashes
    FieldValue value;
    std::string reason;
  };
  std::int64_t batch = 0;  // per replica; 0: no default
  std::string reason = {};
  std::vector<Value> others = {};
};

/// The kinds of labels that a model learns from; a task feeds one kind.
inline constexpr std::string_view kVoxelLabels = "voxel labels", kBoxes = "boxes", kClassLabels = "class labels";

struct Detector;

struct Model {
  std::string name;   // "unet3d"
  std::string group;  // "U-Net": models of one group have the same fields
  int spatial_axes = 3;
  std::string_view data = kVoxelLabels;
  std::any config;  // with its usual values
  std::vector<ConfigField> fields;
  Graph (*build)(const std::any& config, const GraphOptions& options, const OpTable& ops) = nullptr;
  /// The multiple to which the extents of a prediction are rounded up; null: 1.
  std::int64_t (*multiple)(const std::any& config) = nullptr;
  /// The only image size that the model takes; null: any.
  Dims (*size)(const std::any& config) = nullptr;
  /// The default recomputation of its backward pass, chosen where it costs little of a step.
  Recompute recompute = Recompute::kNone;
  /// Makes the Detector of a model that learns from boxes: its targets and the meaning of its outputs (detector.h);
  /// null: no boxes.
  Detector (*detector)(const std::any& config) = nullptr;
  // inputs of the loss, cut where they divide; empty: "labels", cut like the image
  std::vector<std::string> targets = {};
  UsualTraining usual = {};
};

using ModelTable = std::vector<std::shared_ptr<const Model>>;

/// All models of the program; the first is the default.
const ModelTable& model_table();
/// Finds a model by name. Errors: kConfig lists the names.
const std::shared_ptr<const Model>& model_named(const ModelTable& models, std::string_view name);

}  // namespace voxshard
