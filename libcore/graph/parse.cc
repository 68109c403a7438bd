// The parser of the text form, line by line.
#include <charconv>

#include "libcore/graph/builder.h"
#include "libcore/graph/line_scanner.h"
#include "libcore/graph/text.h"

namespace voxshard {
namespace {

constexpr std::int64_t kLongestWindow = 1 << 20;

void read(LineScanner& line, std::int64_t& value) { value = line.integer(); }
void read(LineScanner& line, int& value) {
  const std::int64_t wide = line.integer();
  value = static_cast<int>(wide);
  if (value != wide) line.fail("a number is too large");
}
void read(LineScanner& line, double& value) { value = line.number(); }
void read(LineScanner& line, std::vector<double>& values) {
  do values.push_back(line.number());
  while (line.take(","));
}
void read(LineScanner& line, Dims& value) { value = line.dims(); }
void read(LineScanner& line, DType& value) { value = line.dtype(); }
void read(LineScanner& line, LossKind& value) { value = static_cast<LossKind>(line.one_of(kLossNames, "a loss")); }
void read(LineScanner& line, BoxLossKind& value) {
  value = static_cast<BoxLossKind>(line.one_of(kBoxLossNames, "a box loss"));
}
void read(LineScanner& line, ConvKernel& value) {
  value = static_cast<ConvKernel>(line.one_of(kConvKernelNames, "a kernel"));
}

/// Reads one of a window's fields; returns false when `key` is none of them.
bool read_window(LineScanner& line, std::string_view key, Window& window) {
  if (key == "kernel") {
    window.kernel = line.dims();
  } else if (key == "stride") {
    window.stride = line.dims();
  } else if (key == "dilation") {
    window.dilation = line.dims();
  } else if (key == "pad") {
    window.pad_lo = line.dims();
    line.expect("/");
    window.pad_hi = line.dims();
  } else {
    return false;
  }
  return true;
}

/// Fills in fields that a handwritten window leaves out, and checks all.
void complete(LineScanner& line, Window& window) {
  const int axes = window.axes();
  auto check = [&](Dims& dims, std::int64_t least) {
    if (dims.empty()) dims = Dims::filled(axes, least);
    if (dims.axes() != axes) line.fail("expected as many entries as the kernel has");
    for (auto e : dims)
      if (e < least || e > kLongestWindow) line.fail("a window has an entry that is too small or too large");
  };
  check(window.kernel, 1), check(window.stride, 1), check(window.dilation, 1), check(window.pad_lo, 0),
      check(window.pad_hi, 0);
}

bool at_end(LineScanner line) { return line.done() || line.take(":") || line.take("follows"); }

/// Reads the fields "key=value" up to the type into a family's attributes.
template <class Family>
void read_fields(LineScanner& line, const std::string& op, Family& attrs) {
  while (!at_end(line)) {
    const std::string key(line.key());
    bool known = false;
    std::string names;
    Family::each(attrs, [&]<class T>(const char* name, T& field) {
      if constexpr (std::is_same_v<T, Window>) {
        known = known || read_window(line, key, field);
        names += " kernel stride dilation pad";
      } else {
        if (key == name) read(line, field);
        known = known || key == name;
        names += std::string(" ") + name;
      }
    });
    if (!known) line.fail(op + " has no attribute " + key + "; it has" + (names.empty() ? " none" : names));
  }
  Family::each(attrs, [&]<class T>(const char*, [[maybe_unused]] T& field) {
    if constexpr (std::is_same_v<T, Window>) complete(line, field);
  });
}

template <std::size_t kAt = 0>
Initial read_initial(LineScanner& line) {
  if constexpr (kAt == std::variant_size_v<Initial>) {
    line.fail("expected how it begins");
  } else {
    std::variant_alternative_t<kAt, Initial> rule;
    if (!line.take(rule.kName)) return read_initial<kAt + 1>(line);
    if constexpr (requires { rule.number(rule); }) {
      line.expect(":");
      rule.number(rule) = line.number();
    }
    return rule;
  }
}

template <std::size_t kAt = 1>
InputInfo read_input(LineScanner& line) {
  if constexpr (kAt == std::variant_size_v<InputInfo>) {
    return input::Any{};
  } else {
    std::variant_alternative_t<kAt, InputInfo> info;
    if (!line.take(info.kName)) return read_input<kAt + 1>(line);
    read_fields(line, std::string("an input of ") + info.kName, info);
    return info;
  }
}

class GraphReader {
 public:
  explicit GraphReader(const OpTable& ops) : ops_(ops) {}

  void read_line(LineScanner line) {
    LineScanner named = line;
    const std::string_view first = named.word();
    if (named.take("=")) return node(line);
    if (first == "output") {
      const std::string name(named.word());
      named.expect("=");
      if (!graph_.outputs.emplace(name, value(named)).second) named.fail("the output is named twice");
    } else if (first == "gradient") {
      const ValueId parameter = by_name(named, named.word());
      named.expect("=");
      if (!graph_.gradients.emplace(parameter, value(named)).second) named.fail("the parameter has a gradient already");
    } else if (first == "effect") {
      const ValueId state = by_name(named, named.word());
      named.expect("<-");
      graph_.effects.emplace_back(state, value(named));
    } else if (first == "backward") {
      graph_.backward_root = value(named);
    } else {
      return node(line);
    }
    named.expect_end();
  }

  Graph finish() {
    const auto broken = verify(graph_, ops_);
    if (!broken.empty()) throw Error(ErrorKind::kConfig, "[text] the graph is broken: " + broken.front());
    return std::move(graph_);
  }

 private:
  ValueId by_name(const LineScanner& line, std::string_view name) const {
    const ValueId id = graph_.find(std::string(name));
    if (id == kNoValue) line.fail("no value is named " + std::string(name));
    return id;
  }

  /// Reads "%3" or "%image", defined before.
  ValueId value(LineScanner& line) const {
    line.expect("%");
    const std::string_view word = line.word();
    ValueId id = kNoValue;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), id);
    if (end != word.data() + word.size()) return by_name(line, word);
    if (error != std::errc() || id < 0 || id >= graph_.size())
      line.fail("the value %" + std::string(word) + " is not defined before");
    return id;
  }

  /// Reads an optional "follows %image".
  ValueId follows(LineScanner& line) const { return line.take("follows") ? value(line) : kNoValue; }

  static TensorType type(LineScanner& line) {
    const DType dtype = line.dtype();
    line.expect("[");
    const Shape shape = line.dims();
    if (shape.empty()) line.fail("expected at least one axis");
    line.expect("]");
    line.expect_end();
    return {dtype, shape};
  }

  void node(LineScanner& line) {
    if (line.take("%")) {
      const std::int64_t id = line.integer();
      if (id != graph_.size()) line.fail("expected the id %" + std::to_string(graph_.size()));
    }
    Node node{.name = std::string(line.word())};
    if (graph_.find(node.name) != kNoValue) line.fail("a value is named " + node.name + " already");
    line.expect("=");
    const std::string kind(line.word());
    if (kind == "input" || kind == "parameter" || kind == "state") {
      node.role = kind == "input" ? Role::kInput : kind == "state" ? Role::kState : Role::kParameter;
      if (node.role == Role::kInput) node.input = read_input(line);
      if (node.role != Role::kInput && line.take("begins=")) node.parameter.begins = read_initial(line);
      node.parameter.decays = node.role == Role::kParameter && line.take("decays=true");
      node.parameter.frozen = node.role == Role::kParameter && line.take("frozen=true");
      const ValueId followed = follows(line);
      line.expect(":");
      node.type = type(line);
      node.follows = followed;
    } else {
      op(line, kind, node);
    }
    graph_.append(std::move(node));
  }

  void op(LineScanner& line, const std::string& kind, Node& node) const {
    const auto row = ops_.all().find(kind);
    if (row == ops_.all().end()) line.fail("no op is named " + kind);
    const OpDef& def = row->second;
    node.op = kind;
    LineScanner next = line;
    if (next.take("%")) {
      do node.inputs.push_back(value(line));
      while (line.take(","));
    }
    node.attrs = def.attributes;
    std::visit([&](auto& family) { read_fields(line, kind, family); }, node.attrs);
    node.follows = follows(line);
    std::vector<TensorType> types;
    for (ValueId i : node.inputs) types.push_back(graph_.node(i).type);
    try {
      node.type = def.infer(node.attrs, types);
    } catch (const Error& error) {
      line.fail(error.what());
    }
    line.check_size(node.type.shape);
    if (line.take(":") && type(line) != node.type) line.fail("the result is " + to_string(node.type));
  }

  const OpTable& ops_;
  Graph graph_;
};

}  // namespace

Graph parse_graph(std::vector<LineScanner>& lines, std::size_t& at, std::string_view end, const OpTable& ops) {
  GraphReader reader(ops);
  for (; at < lines.size(); ++at) {
    LineScanner line = lines[at];
    if (!end.empty() && line.take(end)) break;
    reader.read_line(lines[at]);
  }
  return reader.finish();
}

Graph parse_graph(std::string_view text, const OpTable& ops) {
  std::vector<LineScanner> lines = lines_of(text);
  std::size_t at = 0;
  return parse_graph(lines, at, {}, ops);
}

}  // namespace voxshard
