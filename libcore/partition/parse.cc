// The parser of whole_text(), the complete text form of a program.
#include "libcore/graph/line_scanner.h"
#include "libcore/graph/text.h"
#include "libcore/partition/text.h"

namespace voxshard {
namespace {

constexpr std::int64_t kMostCores = 1 << 16;
constexpr std::string_view kBegin = "cut replicas=";  // after the graph

class ProgramReader {
 public:
  ProgramReader(Graph graph, const OpTable& ops, LineScanner& line) : ops_(ops) {
    program_.graph = std::move(graph);
    Cut& cut = program_.cut;
    line.expect(kBegin);
    cut.mesh.replicas = line.integer();
    line.expect("partition=");
    cut.mesh.partition = line.dims();
    if (line.take("thinnest_slab=")) cut.thinnest_slab = line.integer();
    std::vector<const char*> choices;
    for (Recompute choice : kRecomputeChoices) choices.push_back(recompute_name(choice));
    if (line.take("recompute=")) cut.recompute = kRecomputeChoices[line.one_of(choices, "what is recomputed")];
    if (line.take("convolution="))
      cut.convolution = kConvolutionChoices[line.one_of(kConvolutionNames, "which convolutions may be taken")];
    line.expect_end();
    check_cores(line, cut.mesh);
    program_.values.resize(program_.graph.nodes().size());
    for (ValueId id = 0; id < program_.graph.size(); ++id) set_layout(id, {});
  }

  void read_line(LineScanner line) {
    if (line.take("prologue")) {
      const std::int64_t count = line.integer();
      if (count < 0 || count > static_cast<std::int64_t>(program_.instructions.size()))
        line.fail("there are not as many instructions");
      program_.prologue = static_cast<std::size_t>(count);
    } else if (line.take("placed")) {
      placed(line);
    } else if (line.take("value")) {
      layout(line);
    } else if (line.take("own")) {
      ValuePlan& plan = plan_of(line);
      plan.own = plan.held = boxes_of_cores(line, plan);
    } else if (line.take("held")) {
      ValuePlan& plan = plan_of(line);
      plan.held = boxes_of_cores(line, plan);
    } else {
      instruction(line);
    }
    line.expect_end();
  }

  Program finish() { return std::move(program_); }

 private:
  static void check_cores(const LineScanner& line, const Mesh& mesh) {
    bool fits = mesh.replicas >= 1 && mesh.replicas <= kMostCores && !mesh.partition.empty();
    for (auto parts : mesh.partition) fits = fits && parts >= 1;
    if (!fits || mesh.cores_per_replica() > kMostCores / mesh.replicas)
      line.fail("expected 1 to " + std::to_string(kMostCores) + " cores");
  }

  const Shape& shape(ValueId id) const { return program_.graph.node(id).type.shape; }

  void set_layout(ValueId id, Layout layout) {
    ValuePlan& plan = program_.values[id];
    plan.own = layout.boxes(program_.mesh(), shape(id));
    plan.held = plan.own;
    plan.layout = std::move(layout);
  }

  ValueId value(LineScanner& line) {
    line.expect("%");
    const std::int64_t id = line.integer();
    if (id < 0 || id >= program_.graph.size()) line.fail("the graph has no such value");
    value_ = static_cast<ValueId>(id);
    return value_;
  }
  ValuePlan& plan_of(LineScanner& line) { return program_.values[value(line)]; }

  void placed(LineScanner& line) {
    PlacedInput input{.name = std::string(line.word())};
    input.placement.kind = static_cast<InputPlacement::Kind>(line.one_of(kPlacementWords, "how the input is placed"));
    if (line.take("grid=")) input.placement.grid = line.dims();
    program_.cut.inputs.push_back(std::move(input));
  }

  /// "cut 0:1 | 0:4 4:8 grid=1x2x1x1"
  void layout(LineScanner& line) {
    const ValueId id = value(line);
    line.expect("cut");
    Layout layout{.replicated = false, .axes = {{}}};
    while (!line.done()) {
      if (line.take("grid="))
        layout.grid = line.dims();
      else if (line.take("|"))
        layout.axes.emplace_back();
      else
        layout.axes.back().push_back(line.interval());
    }
    const Mesh mesh = layout.over(program_.mesh());
    check_cores(line, mesh);
    if (mesh.cores() != program_.mesh().cores()) line.fail("expected a grid of as many cores");
    const auto axes = static_cast<int>(layout.axes.size());
    if (axes > shape(id).axes() || axes > mesh.partition.axes()) line.fail("expected at most one list per axis");
    for (int a = 0; a < axes; ++a)
      if (static_cast<std::int64_t>(layout.axes[a].size()) != mesh.parts(a))
        line.fail("expected " + std::to_string(mesh.parts(a)) + " intervals along axis " + std::to_string(a));
    set_layout(id, std::move(layout));
  }

  Box box(LineScanner& line, int axes) const {
    const Box box = line.box();
    if (box.axes() != axes) line.fail("expected boxes of rank " + std::to_string(axes));
    return box;
  }

  std::vector<Box> boxes_of_cores(LineScanner& line, const ValuePlan& plan) const {
    std::vector<Box> boxes;
    while (!line.done()) boxes.push_back(box(line, shape(value_).axes()));
    if (boxes.size() != plan.own.size()) line.fail("expected " + std::to_string(plan.own.size()) + " boxes");
    return boxes;
  }

  void instruction(LineScanner& line) {
    const auto kind = static_cast<InstructionKind>(
        line.one_of(kInstructionNames, "placed, value, own, held, prologue or an instruction"));
    Instruction read{.kind = kind, .value = value(line)};
    if (read.kind == InstructionKind::kCompute) blocks(line, read);
    if (read.kind == InstructionKind::kExchange) copies(line, read);
    if (read.kind == InstructionKind::kPack) {
      const Node& node = program_.graph.node(read.value);
      if (node.role != Role::kOp || ops_.at(node.op).packed == nullptr)
        line.fail(node.name + " has no weights to pack");
    }
    program_.instructions.push_back(std::move(read));
  }

  void blocks(LineScanner& line, Instruction& compute) const {
    const Node& node = program_.graph.node(compute.value);
    if (node.role != Role::kOp) line.fail(node.name + " is not computed");
    const int driver = ops_.at(node.op).driver;
    const int axes = shape(driver < 0 ? compute.value : node.inputs[driver]).axes();
    compute.partial = line.take("partial");
    while (line.take("|")) {
      compute.blocks.emplace_back();
      for (LineScanner next = line; next.take("["); next = line) compute.blocks.back().push_back(box(line, axes));
    }
    const bool once = program_.replicated(compute.value) && !compute.partial;
    const std::size_t lists = once ? 1 : static_cast<std::size_t>(program_.mesh().cores());
    if (compute.blocks.size() != lists) line.fail("expected the blocks of " + std::to_string(lists) + " cores");
  }

  void copies(LineScanner& line, Instruction& exchange) const {
    auto core = [&] {
      const std::int64_t core = line.integer();
      if (core < 0 || core >= program_.mesh().cores()) line.fail("there is no core " + std::to_string(core));
      return core;
    };
    if (program_.replicated(exchange.value)) line.fail("a replicated value is not exchanged");
    do {
      Copy copy{.from = core()};
      line.expect(">");
      copy.to = core();
      copy.box = box(line, shape(exchange.value).axes());
      exchange.copies.push_back(copy);
    } while (line.take(","));
  }

  const OpTable& ops_;
  Program program_;
  ValueId value_ = kNoValue;  // the value of the line being read
};

}  // namespace

Program parse_program(std::string_view text, const OpTable& ops) {
  std::vector<LineScanner> lines = lines_of(text);
  std::size_t at = 0;
  Graph graph = parse_graph(lines, at, kBegin, ops);
  if (at == lines.size())
    throw Error(ErrorKind::kConfig, "[text] expected a line that begins with " + std::string(kBegin));
  ProgramReader reader(std::move(graph), ops, lines[at]);
  while (++at < lines.size()) reader.read_line(lines[at]);
  return reader.finish();
}

}  // namespace voxshard
