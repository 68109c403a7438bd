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

/// Returns for each of these classes of a model the classes of the data that it stands for: the left and the right one
/// where they were trained as one class, else itself.
std::vector<Names> parts_of_classes(const nlohmann::json& preparation, const Names& names) {
  std::vector<Names> parts;
  for (const std::string& name : names) parts.push_back({name});
  if (!preparation.is_object()) return parts;
  const nlohmann::json trained = preparation.value("trained_classes", nlohmann::json::array()),
                       of_data = preparation.value("class_names", nlohmann::json::array());
  for (std::size_t c = 0; c < std::min(parts.size(), trained.size()); ++c) {
    Names sides;
    for (const char* side : {"left", "right"}) {
      const nlohmann::json label = trained[c].is_object() ? trained[c].value(side, nlohmann::json()) : nlohmann::json();
      for (std::size_t i = 0; i < of_data.size(); ++i)
        if (label == i && of_data[i].is_string()) sides.push_back(of_data[i].get<std::string>());
    }
    if (sides.size() == 2) parts[c] = sides;
  }
  return parts;
}

/// The classes of a model; those in front of the named ones, such as a background, have no name in the data.
struct Classes {
  std::int64_t count = 0;
  Names names;
  std::vector<Names> parts;  // by name: the classes of the data

  std::int64_t first_named() const { return std::max<std::int64_t>(0, count - std::ssize(names)); }
  /// Returns how many classes of the data a named class stands for.
  std::size_t parts_of(std::int64_t c) const { return parts[c - first_named()].size(); }
};

std::optional<std::int64_t> class_count(const ModelSpec& spec) {
  if (std::ranges::count(spec.model->fields, "classes", &ConfigField::name) == 0) return std::nullopt;
  return std::get<std::int64_t>(spec.get("classes"));
}

Classes classes_of(const ModelSpec& spec, const nlohmann::json& preparation) {
  Names names = names_of_classes(preparation);
  std::vector<Names> parts = parts_of_classes(preparation, names);
  return {.count = class_count(spec).value_or(0), .names = std::move(names), .parts = std::move(parts)};
}

/// The classes of another run whose weights a class begins with: the same one; of a side the class that joins it with
/// the other side; of a joined class both sides, of which it takes the mean; none: it begins anew.
using Sources = std::vector<std::int64_t>;

/// Returns the sources of a class of the data's names `parts`, which no class of `theirs` is the same as.
Sources sources_of_sides(const Names& parts, const Classes& theirs) {
  Sources sources;
  for (const std::string& part : parts)
    for (std::size_t t = 0; t < theirs.parts.size(); ++t)
      if (std::ranges::count(theirs.parts[t], part) > 0)
        sources.push_back(theirs.first_named() + static_cast<std::int64_t>(t));
  if (sources.size() != parts.size()) return {};                            // one side alone is no start for both
  if (sources.size() == 2 && sources[0] == sources[1]) sources.pop_back();  // joined under another name
  return sources;
}

/// Returns the sources of each class of `mine`.
std::vector<Sources> sources_of_classes(const Classes& mine, const Classes& theirs) {
  std::vector<Sources> sources(static_cast<std::size_t>(mine.count));
  for (std::int64_t c = 0; c < mine.count; ++c) {
    auto& found = sources[c];
    if (c < mine.first_named()) {
      if (c < theirs.first_named()) found = {c};
      continue;
    }
    const auto named = static_cast<std::size_t>(c - mine.first_named());
    const auto it = std::ranges::find(theirs.names, mine.names[named]);
    found = it != theirs.names.end() ? Sources{theirs.first_named() + (it - theirs.names.begin())}
                                     : sources_of_sides(mine.parts[named], theirs);
  }
  return sources;
}

/// Returns, by the name of each tensor that depends on the number of classes, the channels of its last axis for each
/// class.
std::map<std::string, std::int64_t> channels_per_class(const FineTuned& mine, const Parameters& parameters) {
  std::map<std::string, std::int64_t> channels;
  const auto classes = class_count(mine.spec);
  if (!classes) return channels;
  ModelSpec wider = mine.spec;
  wider.set("classes", *classes + 1);
  for (const ConfigField& field : wider.model->fields)  // some have a value for each class
    if (!field.shapes) wider.set(field.name, field.get(wider.model->config));
  const Graph graph = build_graph(wider, mine.extents, Phase::kTrain, wider.precision);
  for (const auto& [name, tensor] : parameters)
    if (const ValueId id = graph.find(name); id != kNoValue && graph.node(id).type.shape != tensor.shape())
      channels[name] = graph.node(id).type.shape.back() - tensor.shape().back();
  return channels;
}

/// Copies the channels of the classes that have sources. Returns the number of values; 0 when the tensors differ
/// otherwise.
std::int64_t copy_classes(const Tensor& from, std::int64_t their_classes, Tensor& to, std::int64_t per_class,
                          const std::vector<Sources>& sources) {
  const std::int64_t classes = std::ssize(sources), channels = to.shape().back(),
                     their_channels = per_class * their_classes;
  Shape expected = to.shape();
  expected[expected.axes() - 1] = their_channels;
  if (from.shape() != expected || channels != per_class * classes) return 0;
  std::int64_t copied = 0;
  for (std::int64_t row = 0; row < to.count() / channels; ++row)
    for (std::int64_t j = 0; j < per_class; ++j)
      for (std::int64_t c = 0; c < classes; ++c) {
        const Sources& theirs = sources[c];
        if (theirs.empty()) continue;
        const auto* values = from.as<const float>() + row * their_channels + j * their_classes;
        to.as<float>()[row * channels + j * classes + c] =
            theirs.size() == 1 ? values[theirs[0]] : (values[theirs[0]] + values[theirs[1]]) / 2;
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
  const Classes own = classes_of(mine.spec, mine.preparation), other = classes_of(theirs.spec, theirs.preparation);
  const std::vector<Sources> sources = sources_of_classes(own, other);
  const auto per_class = channels_per_class(mine, parameters);
  TakenWeights taken{.checkpoint = theirs.file,
                     .step = theirs.step,
                     .weights = theirs.weights,
                     .prepared_otherwise = differing_keys(theirs.preparation, mine.preparation)};
  for (std::int64_t c = own.first_named(); c < own.count; ++c) {
    const Sources& found = sources[c];
    const auto named = static_cast<std::size_t>(c - own.first_named());
    if (found.empty())
      taken.new_classes.push_back(own.names[named]);
    else if (found.size() > 1)
      taken.joined_classes.push_back(own.names[named]);
    else if (own.parts[named].size() < other.parts_of(found.front()))
      taken.split_classes.push_back(own.names[named]);
  }
  bool kernels = false;  // biases alone are no start
  for (auto& [name, tensor] : parameters) {
    const auto it = theirs.parameters.find(name);
    const auto classes = per_class.find(name);
    std::int64_t values = 0;
    if (it != theirs.parameters.end() && classes != per_class.end())
      values = copy_classes(it->second, other.count, tensor, classes->second, sources);
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
  for (const auto& [name, tensor] : theirs.parameters)
    if (!parameters.contains(name)) taken.without_place.push_back(name);
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
  if (!t.joined_classes.empty())
    text += "; " + std::to_string(t.joined_classes.size()) +
            (t.joined_classes.size() == 1 ? " class takes" : " classes take") + " the mean of left and right (" +
            names_text(t.joined_classes) + ")";
  if (!t.split_classes.empty())
    text += "; " + std::to_string(t.split_classes.size()) +
            (t.split_classes.size() == 1 ? " class takes" : " classes take") +
            " the weights of left and right as one class (" + names_text(t.split_classes) + ")";
  if (!t.anew.empty())
    text += "; " + std::to_string(t.anew.size()) +
            (t.anew.size() == 1 ? " tensor begins anew (" : " tensors begin anew (") + names_text(t.anew) + ")";
  if (!t.without_place.empty())
    text += "; " + std::to_string(t.without_place.size()) +
            (t.without_place.size() == 1 ? " tensor of it has" : " tensors of it have") + " no place here";
  return text + "; in all " + std::to_string(t.values) + " of " + std::to_string(t.of_values) + " values are taken";
}

nlohmann::ordered_json to_json(const TakenWeights& t, const fs::path& run, const std::string& hash) {
  nlohmann::ordered_json json = {{"run", run.string()},
                                 {"checkpoint", t.checkpoint.string()},
                                 {"hash", hash},
                                 {"step", t.step},
                                 {"tensors", t.tensors},
                                 {"tensors_of_common_classes", t.partly},
                                 {"tensors_anew", t.anew},
                                 {"tensors_without_place", t.without_place},
                                 {"values", t.values},
                                 {"values_of_model", t.of_values},
                                 {"new_classes", t.new_classes}};
  if (!t.joined_classes.empty()) json["joined_classes"] = t.joined_classes;
  if (!t.split_classes.empty()) json["split_classes"] = t.split_classes;
  return json;
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
