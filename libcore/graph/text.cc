#include "libcore/graph/text.h"

#include <sstream>

#include "libcore/base/text.h"
#include "libcore/graph/line_scanner.h"

namespace voxshard {
namespace {

std::string value_text(std::int64_t value) { return std::to_string(value); }
std::string value_text(int value) { return std::to_string(value); }
std::string value_text(DType value) { return dtype_name(value); }
std::string value_text(LossKind value) { return kLossNames[static_cast<std::size_t>(value)]; }
std::string value_text(BoxLossKind value) { return kBoxLossNames[static_cast<std::size_t>(value)]; }
std::string value_text(ConvKernel value) { return kConvKernelNames[static_cast<std::size_t>(value)]; }
std::string value_text(const Dims& value) { return to_string(value); }
std::string value_text(double value) { return number_text(value); }
std::string value_text(const std::vector<double>& values) {
  std::string text;
  for (double value : values) text += (text.empty() ? "" : ",") + number_text(value);
  return text;
}

/// Every field as "name=value", in order.
template <class Family>
std::vector<std::string> field_texts(const Family& attrs) {
  std::vector<std::string> texts;
  Family::each(attrs, [&]<class T>([[maybe_unused]] const char* name, const T& field) {
    if constexpr (std::is_same_v<T, Window>) {
      texts.push_back("kernel=" + to_string(field.kernel) + " stride=" + to_string(field.stride) + " dilation=" +
                      to_string(field.dilation) + " pad=" + to_string(field.pad_lo) + "/" + to_string(field.pad_hi));
    } else {
      texts.push_back(std::string(name) + "=" + value_text(field));
    }
  });
  return texts;
}

/// Writes the fields that differ from their defaults.
struct ChangedFields {
  template <class Family>
  std::string operator()(const Family& family) const {
    const std::vector<std::string> fields = field_texts(family), begin = field_texts(Family{});
    std::string text;
    for (std::size_t i = 0; i < fields.size(); ++i)
      if (fields[i] != begin[i]) text += " " + fields[i];
    return text;
  }
};

std::string input_text(const InputInfo& info) {
  const std::string name = std::visit([](const auto& kind) { return std::string(kind.kName); }, info);
  return (name.empty() ? "" : " " + name) + std::visit(ChangedFields(), info);
}

std::string parameter_text(const ParameterInfo& info) {
  std::string text;
  if (info.begins != Initial{})
    std::visit(
        [&]<class Rule>([[maybe_unused]] const Rule& rule) {
          text += " begins=";
          text += Rule::kName;
          if constexpr (requires { Rule::number(rule); }) text += ":" + number_text(Rule::number(rule));
        },
        info.begins);
  return text + (info.decays ? " decays=true" : "") + (info.frozen ? " frozen=true" : "");
}

const char* kind_text(const Node& node) {
  switch (node.role) {
    case Role::kInput:
      return "input";
    case Role::kParameter:
      return "parameter";
    case Role::kState:
      return "state";
    case Role::kOp:
      break;
  }
  return node.op.c_str();
}

}  // namespace

std::string to_text(const Graph& graph) {
  std::ostringstream out;
  for (ValueId id = 0; id < graph.size(); ++id) {
    const Node& n = graph.node(id);
    out << "%" << id << " " << n.name << " = " << kind_text(n);
    for (std::size_t i = 0; i < n.inputs.size(); ++i) out << (i ? ", %" : " %") << n.inputs[i];
    out << std::visit(ChangedFields(), n.attrs) << input_text(n.input) << parameter_text(n.parameter);
    if (n.follows != kNoValue) out << " follows %" << n.follows;
    out << " : " << to_string(n.type) << "\n";
  }
  for (const auto& [name, id] : graph.outputs) out << "output " << name << " = %" << id << "\n";
  for (const auto& [parameter, gradient] : graph.gradients)
    out << "gradient " << graph.node(parameter).name << " = %" << gradient << "\n";
  for (const auto& [state, value] : graph.effects)
    out << "effect " << graph.node(state).name << " <- %" << value << "\n";
  if (graph.backward_root != kNoValue) out << "backward %" << graph.backward_root << "\n";
  return out.str();
}

}  // namespace voxshard
