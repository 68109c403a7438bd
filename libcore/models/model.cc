#include "libcore/models/model.h"

#include <algorithm>
#include <sstream>

namespace voxshard {
namespace {

void require(bool ok, const std::string& who, const std::string& text) {
  if (!ok) throw Error(ErrorKind::kConfig, "[" + who + "] " + text);
}

std::string limits_text(const ConfigField& row) {
  if (row.most < ConfigField::kInfinity) return to_text(row.least) + " to " + to_text(row.most);
  return "at least " + to_text(row.least) +
         (row.below < ConfigField::kInfinity ? " and below " + to_text(row.below) : "");
}

}  // namespace

std::string to_text(const FieldValue& value) {
  std::ostringstream text;
  std::visit([&](const auto& one) { text << one; }, value);
  return text.str();
}

std::string ConfigField::option_name() const {
  if (!option.empty()) return option;
  std::string dashed = name;
  std::replace(dashed.begin(), dashed.end(), '_', '-');
  return dashed;
}

std::string ConfigField::said(const std::any& config) const {
  const FieldValue value = get(config);
  for (const auto& [word, meaning] : words)
    if (meaning == value) return word;
  return to_text(value);
}

FieldValue ConfigField::meant(const FieldValue& value) const {
  for (const auto& [word, meaning] : words)
    if (value == FieldValue(word)) return meaning;
  return value;
}

FieldValue ConfigField::checked(const FieldValue& like, const FieldValue& value) const {
  constexpr const char* kTypes[] = {"true or false", "a whole number", "a number", "a name"};
  const auto* whole = std::get_if<std::int64_t>(&value);
  const bool widened = whole != nullptr && std::holds_alternative<double>(like);
  require(widened || value.index() == like.index(), "config",
          name + " should be " + kTypes[like.index()] + ", got " + to_text(value));
  if (const auto* said = std::get_if<std::string>(&value);
      said != nullptr && !names.empty() && std::ranges::count(names, *said) == 0)
    refuse_name("the " + name, *said, names);
  const FieldValue same = widened ? FieldValue(static_cast<double>(*whole)) : value;
  const auto* real = std::get_if<double>(&same);
  if (whole != nullptr || real != nullptr) {
    const double number = real != nullptr ? *real : static_cast<double>(*whole);
    require(number >= least && number <= most && (number < below || below == kInfinity), "config",
            name + " must be " + limits_text(*this) + ", got " + to_text(value));
  }
  return same;
}

void refuse_name(const std::string& what, std::string_view name, const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& known : names) all += (all.empty() ? "" : ", ") + known;
  throw Error(ErrorKind::kConfig, "[config] " + what + " \"" + std::string(name) + "\" is not known; expected " + all);
}

void check_graph(const std::string& who, const std::vector<ConfigField>& fields, const std::any& config,
                 const GraphOptions& o, int least_axes, int most_axes) {
  for (const ConfigField& row : fields) row.checked(row.get(config), row.get(config));
  require(o.size.axes() >= least_axes && o.size.axes() <= most_axes, who,
          "the size " + to_string(o.size) + " should have " + std::to_string(least_axes) +
              (most_axes > least_axes ? " or " + std::to_string(most_axes) : "") + " axes");
  for (auto extent : o.size) require(extent > 0, who, "the size " + to_string(o.size) + " has an extent below 1");
  require(o.batch > 0, who, "the batch must be positive, got " + std::to_string(o.batch));
  for (const std::int64_t replicas : {o.norm_replicas, o.loss_replicas})
    require(replicas > 0 && o.batch % replicas == 0, who,
            "a batch of " + std::to_string(o.batch) + " cannot be shared by " + std::to_string(replicas) +
                " replicas evenly");
}

const std::shared_ptr<const Model>& model_named(const ModelTable& models, std::string_view name) {
  std::vector<std::string> names;
  for (const auto& model : models) {
    if (model->name == name) return model;
    names.push_back(model->name);
  }
  refuse_name("the model", name, names);
}

}  // namespace voxshard
