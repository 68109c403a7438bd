#include "pipelines/training/fine_tuning.h"

#include <algorithm>
#include <optional>

#include "pipelines/model_runs/checkpoint_folder.h"
#include "pipelines/model_runs/run_preparation.h"
#include "pipelines/training/data_changes.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

/// The keys of class names in a preparation: of a model whose classes are not those of the data, of volumes, and of
/// images and class data.
constexpr const char* kClassKeys[] = {"trained_classes", "class_names", "classes"};

/// Returns the names of the classes in a task's preparation: a list of names, or of objects with a "name".
Names names_of_classes(const nlohmann::json& preparation) {
  Names names;
  for (const char* key : kClassKeys) {
    const auto list = preparation.is_object() ? preparation.find(key) : preparation.end();
    if (list == preparation.end() || !list->is_array()) continue;
    for (const nlohmann::json& one : *list) {
      const nlohmann::json name = one.is_object() ? one.value("name", nlohmann::json()) : one;
      if (!name.is_string()) return {};
      names.push_back(name.get<std::string>());
    }
    return names;
  }
  return names;
}

/// The classes of a model; those in front of the named ones, such as a background, have no name in the data.
struct Classes {
  std::int64_t count = 0;
  Names names;

  std::int64_t first_named() const { return std::max<std::int64_t>(0, count - std::ssize(names)); }
};

std::optional<std::int64_t> class_count(const ModelSpec& spec) {
  if (std::ranges::count(spec.model->fields, "classes", &ConfigField::name) == 0) return std::nullopt;
  return std::get<std::int64_t>(spec.get("classes"));
}

/// Returns for each class of `mine` the same class of `theirs`; none for a new one.
std::vector<std::optional<std::int64_t>> same_classes(const Classes& mine, const Classes& theirs) {
  std::vector<std::optional<std::int64_t>> same(static_cast<std::size_t>(mine.count));
  for (std::int64_t c = 0; c < mine.count; ++c) {
    auto& found = same[static_cast<std::size_t>(c)];
    const std::int64_t named = c - mine.first_named();
    if (named < 0) {
      if (c < theirs.first_named()) found = c;
      continue;
    }
    const auto it = std::ranges::find(theirs.names, mine.names[static_cast<std::size_t>(named)]);
    if (it != theirs.names.end()) found = theirs.first_named() + (it - theirs.names.begin());
  }
  return same;
}

/// Returns, by the name of each tensor that depends on the number of classes, the channels of its last axis for each
/// class.
std::map<std::string, std::int64_t> channels_per_class(const FineTuned& mine, const Parameters& parameters) {
  std::map<std::string, std::int64_t> channels;
  const auto classes = class_count(mine.spec);
  if (!classes) return channels;
  ModelSpec wider = mine.spec;
  wider.set("classes", *classes + 1);
  const Graph graph = build_graph(wider, mine.extents, Phase::kTrain, wider.precision);
  for (const auto& [name, tensor] : parameters)
    if (const ValueId id = graph.find(name); id != kNoValue && graph.node(id).type.shape != tensor.shape())
      channels[name] = graph.node(id).type.shape.back() - tensor.shape().back();
  return channels;
}

/// Copies the channels of the classes that both have. Returns the number of values; 0 when the tensors differ
/// otherwise.
std::int64_t copy_classes(const Tensor& from, std::int64_t their_classes, Tensor& to, std::int64_t per_class,
                          const std::vector<std::optional<std::int64_t>>& same) {
  const std::int64_t classes = std::ssize(same), channels = to.shape().back(),
                     their_channels = per_class * their_classes;
  Shape expected = to.shape();
  expected[expected.axes() - 1] = their_channels;
  if (from.shape() != expected || channels != per_class * classes) return 0;
  std::int64_t copied = 0;
  for (std::int64_t row = 0; row < to.count() / channels; ++row)
    for (std::int64_t j = 0; j < per_class; ++j)
      for (std::int64_t c = 0; c < classes; ++c)
        if (const auto& their = same[static_cast<std::size_t>(c)]) {
          to.as<float>()[row * channels + j * classes + c] =
              from.as<const float>()[row * their_channels + j * their_classes + *their];
          ++copied;
        }
  return copied;
}

Names differing_keys(const nlohmann::json& theirs, const nlohmann::json& mine) {
  Names keys;
  for (const auto& [key, value] : mine.items())
    if (key != kUsualCases && std::ranges::count(kClassKeys, key) == 0 && theirs.value(key, nlohmann::json()) != value)
      keys.push_back(key);
  return keys;
}

}  // namespace

TakenWeights take_weights(const TrainedRun& theirs, const FineTuned& mine, Parameters& parameters) {
  const Classes own{.count = class_count(mine.spec).value_or(0), .names = names_of_classes(mine.preparation)},
      other{.count = class_count(theirs.spec).value_or(0), .names = names_of_classes(theirs.preparation)};
  const auto same = same_classes(own, other);
  const auto per_class = channels_per_class(mine, parameters);
  TakenWeights taken{.checkpoint = theirs.file,
                     .step = theirs.step,
                     .weights = theirs.weights,
                     .prepared_otherwise = differing_keys(theirs.preparation, mine.preparation)};
  for (std::int64_t c = own.first_named(); c < own.count; ++c)
    if (!same[static_cast<std::size_t>(c)])
      taken.new_classes.push_back(own.names[static_cast<std::size_t>(c - own.first_named())]);
  bool kernels = false;  // biases alone are no start
  for (auto& [name, tensor] : parameters) {
    const auto it = theirs.parameters.find(name);
    const auto classes = per_class.find(name);
    std::int64_t values = 0;
    if (it != theirs.parameters.end() && classes != per_class.end())
      values = copy_classes(it->second, other.count, tensor, classes->second, same);
    else if (it != theirs.parameters.end() && it->second.shape() == tensor.shape())
      copy(it->second.view(), tensor.view()), values = tensor.count();
    kernels = kernels || (values > 0 && tensor.shape().axes() > 1);
    ++taken.of_tensors, taken.of_values += tensor.count(), taken.values += values;
    if (values == tensor.count())
      ++taken.tensors;
    else if (values > 0)
      ++taken.partly;
    else
      taken.anew.push_back(name);
  }
  if (kernels) return taken;
  throw Error(ErrorKind::kConfig, "[train] no kernel of " + theirs.file.string() +
                                      " fits by name and shape: its model is " + architecture_text(theirs.spec) +
                                      ", that of this run is " + architecture_text(mine.spec) +
                                      "; give the options of that model, or leave {from} out");
}

std::string to_text(const TakenWeights& t) {
  std::string text = std::to_string(t.tensors) + " of " + std::to_string(t.of_tensors) + " tensors are those of " +
                     t.checkpoint.string() + ", step " + std::to_string(t.step) +
                     (t.weights.empty() ? "" : ", its " + t.weights + " weights");
  if (t.partly > 0) text += "; " + std::to_string(t.partly) + " for the classes that both have";
  if (!t.new_classes.empty())
    text += "; " + std::to_string(t.new_classes.size()) +
            (t.new_classes.size() == 1 ? " class begins anew (" : " classes begin anew (") + names_text(t.new_classes) +
            ")";
  if (!t.anew.empty())
    text += "; " + std::to_string(t.anew.size()) +
            (t.anew.size() == 1 ? " tensor begins anew (" : " tensors begin anew (") + names_text(t.anew) + ")";
  return text + "; in all " + std::to_string(t.values) + " of " + std::to_string(t.of_values) + " values are taken";
}

nlohmann::ordered_json to_json(const TakenWeights& t, const fs::path& run, const std::string& hash) {
  return {{"run", run.string()},
          {"checkpoint", t.checkpoint.string()},
          {"hash", hash},
          {"step", t.step},
          {"tensors", t.tensors},
          {"tensors_of_common_classes", t.partly},
          {"tensors_anew", t.anew},
          {"values", t.values},
          {"values_of_model", t.of_values},
          {"new_classes", t.new_classes}};
}

std::vector<Choice> choices_of_model(const ModelSpec& spec, const fs::path& run) {
  const std::string reason = "as in {from} " + run.string();
  std::vector<Choice> choices = {{"model", spec.model_name(), reason}};
  for (const ConfigField& row : spec.model->fields)
    if (row.shapes && !row.of_data && !row.said(spec.config).empty())
      choices.push_back({row.option_name(), row.said(spec.config), reason});
  return choices;
}

std::int64_t largest_checkpoint_bytes(const fs::path& run) {
  const bool is_file = run.extension() == ".safetensors";
  std::int64_t most = 0;
  for (const fs::path& file : is_file ? std::vector{run} : checkpoint_files(run / "checkpoints", "auto")) {
    std::error_code missing;
    const auto bytes = fs::file_size(file, missing);
    if (!missing) most = std::max(most, static_cast<std::int64_t>(bytes));
  }
  return most;
}

}  // namespace voxshard
