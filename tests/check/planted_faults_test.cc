// verify finds planted faults: they are in the program, the memory plan or the table of kernels, never in the
// comparison, and each is found in f32 and in bf16 and named at its layer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "libcore/check/equivalence.h"
#include "libcore/models/unet.h"

namespace voxshard {
namespace {

class PlantedFault : public testing::TestWithParam<DType> {
 protected:
  EquivalenceOptions options() const {
    EquivalenceOptions options;
    options.factory = [](DType type) {
      return build_unet({.base_filters = 4, .depth = 3}, {.batch = 1, .size = {16, 8, 12}, .dtype = type}, op_table());
    };
    options.dtype = GetParam();
    options.cut.mesh = {.partition = {1, 2, 1, 2, 1}};
    options.seed = 3;
    return options;
  }

  /// Checks a cut model whose program was changed by `program` before its memory was planned, and whose memory plan was
  /// then changed by `memory`; neither is verified.
  EquivalenceReport checked(const std::function<void(Program&)>& program,
                            const std::function<void(Lowered&)>& memory = {}) const {
    EquivalenceOptions o = options();
    o.lower = [&](const Graph& graph, const OpTable& ops, const Cut& cut, const Target& target) {
      Lowered lowered{.program = partition(step_graph(graph, ops, cut.recompute), ops, cut)};
      if (program) program(lowered.program);
      lowered.memory = plan_memory(lowered.program, ops, {});
      if (memory) memory(lowered);
      return make_executable(std::move(lowered), ops, target);
    };
    WorkerPool pool(2);
    return check_equivalence(o, pool);
  }

  /// Checks a model; the uncut and the cut side both use the kernels of `table`.
  EquivalenceReport checked(const OpTable& table) const {
    const EquivalenceOptions o = options();
    WorkerPool pool(2);
    return check_equivalence({.ops = table, .factory = o.factory, .dtype = o.dtype, .cut = o.cut, .seed = o.seed},
                             pool);
  }

  static void expect_found(const EquivalenceReport& report, const std::string& layer, const std::string& what) {
    ASSERT_FALSE(report.equal());
    EXPECT_EQ(report.first_difference->layer, layer);
    EXPECT_TRUE(report.first_difference->what.starts_with(what)) << report.first_difference->what;
  }
};

Instruction& instruction_of(Program& program, const std::string& layer, InstructionKind kind) {
  for (Instruction& instruction : program.instructions)
    if (instruction.kind == kind && program.graph.node(instruction.value).name == layer) return instruction;
  throw std::logic_error("no such instruction: " + layer);
}

Buffer& buffer_of(MemoryPlan& memory, ValueId value, std::size_t core) {
  for (Buffer& buffer : memory.arenas[core].buffers)
    if (buffer.value == value && buffer.partial < 0) return buffer;
  throw std::logic_error("no such buffer");
}

/// Returns the box without its last voxel, as several boxes.
std::vector<Box> without_the_last_voxel(Box box) {
  std::vector<Box> rest;
  for (int axis = 1; axis + 1 < box.axes(); ++axis) {
    Box before = box;
    before.set(axis, box.begin[axis], box.end(axis) - 1);
    if (!before.empty()) rest.push_back(before);
    box.set(axis, box.end(axis) - 1, box.end(axis));
  }
  return rest;
}

void lose_a_voxel(std::vector<Box>& blocks) {
  const std::vector<Box> rest = without_the_last_voxel(blocks.back());
  blocks.pop_back();
  blocks.insert(blocks.end(), rest.begin(), rest.end());
}

TEST_P(PlantedFault, WithoutOneTheModelIsEqual) {
  const EquivalenceReport report = checked(nullptr);
  EXPECT_TRUE(report.equal()) << report.first_difference->layer << " " << report.first_difference->what << " "
                              << report.first_difference->difference << " of " << report.first_difference->tolerance;
  EXPECT_THAT(report.kernels.left_out, testing::IsEmpty());
  EXPECT_GT(report.kernels.compared, 100);
}

TEST_P(PlantedFault, ALostVoxelOfAResultIsNamed) {
  expect_found(checked([](Program& program) {
                 lose_a_voxel(instruction_of(program, "encoder1/conv0", InstructionKind::kCompute).blocks[1]);
               }),
               "encoder1/conv0", "result");
}

TEST_P(PlantedFault, ALostVoxelOfASumIsNamed) {
  for (const char* layer : {"grad/encoder0/conv1/weights", "grad/head/bias", "encoder0/conv1/norm/sums", "loss/sums"}) {
    SCOPED_TRACE(layer);
    expect_found(checked([&](Program& program) {
                   lose_a_voxel(instruction_of(program, layer, InstructionKind::kCompute).blocks[2]);
                 }),
                 layer, "result");
  }
}

TEST_P(PlantedFault, AStaleMarginIsNamed) {
  expect_found(checked([](Program& program) {
                 instruction_of(program, "encoder1/conv0/norm", InstructionKind::kExchange).copies.pop_back();
               }),
               "encoder1/conv0/norm", "margin");
}

TEST_P(PlantedFault, AMarginOutsideTheImageThatIsNotZeroIsNamed) {
  expect_found(checked([](Program& program) {
                 // The instruction becomes an exchange of nothing, so that the order of the others stays.
                 instruction_of(program, "encoder0/conv0/norm", InstructionKind::kFillMargin).kind =
                     InstructionKind::kExchange;
               }),
               "encoder0/conv0/norm", "margin");
}

TEST_P(PlantedFault, ABufferReusedTooEarlyIsNamed) {
  // A later layer overwrites what the first layer keeps for its gradient.
  const auto reuse = [](Lowered& lowered) {
    const Graph& graph = lowered.program.graph;
    const Buffer& kept = buffer_of(lowered.memory, graph.find("encoder0/conv0"), 1);
    buffer_of(lowered.memory, graph.find("encoder2/conv0"), 1).offset = kept.offset;
  };
#if defined(__SANITIZE_ADDRESS__)
  EXPECT_DEATH(checked(nullptr, reuse), "use-after-poison");
#else
  expect_found(checked(nullptr, reuse), "encoder2/conv0", "memory");
#endif
}

TEST_P(PlantedFault, ALifeThatEndsTooEarlyIsNamedAtTheReader) {
  const auto end_early = [](Lowered& lowered) {
    const ValueId kept = lowered.program.graph.find("encoder0/conv0");
    for (Pool& arena : lowered.memory.arenas)
      for (Buffer& buffer : arena.buffers)
        if (buffer.value == kept) buffer.last -= 1;
  };
#if defined(__SANITIZE_ADDRESS__)
  EXPECT_DEATH(checked(nullptr, end_early), "use-after-poison");
#else
  expect_found(checked(nullptr, end_early), "grad/encoder0/conv0/norm/input", "result");
#endif
}

/// Returns the table of ops with another kernel for one of them.
OpTable with_kernel(const std::string& name, std::unique_ptr<Kernel> (*kernel)(const OpContext&, KernelSet)) {
  OpTable table;
  for (const auto& [key, def] : op_table().all()) {
    OpDef own = def;
    if (key == name) own.kernel = kernel;
    table.add(std::move(own));
  }
  return table;
}

/// Returns the reference kernel of `op`; in the fast set (except in f64) calls of it go through `wrong`.
std::unique_ptr<Kernel> wrapped(const char* name, const OpContext& op, KernelSet set,
                                const std::function<void(const Kernel&, const KernelCall&)>& wrong) {
  const std::shared_ptr<Kernel> exact = op_table().at(name).kernel(op, KernelSet::kReference);
  const bool right = set == KernelSet::kReference || op.inputs[0].dtype == DType::kF64;
  return std::make_unique<FunctionKernel>([=](const KernelCall& c) { right ? exact->run(c) : wrong(*exact, c); });
}

/// Runs `exact` with weights (input number `at`) that lack the first tap, if they have others.
void run_without_the_first_tap(const Kernel& exact, const KernelCall& c, std::size_t at) {
  Tensor weights(c.inputs[at].dtype, c.inputs[at].extent());
  copy(c.inputs[at], weights.view());
  const Dims& extent = weights.shape();
  const std::int64_t tap = extent[extent.axes() - 1] * extent[extent.axes() - 2];
  for (std::int64_t i = 0; i < tap && weights.count() > tap; ++i) store(weights.view(), i, 0);
  std::vector<TensorView> inputs(c.inputs.begin(), c.inputs.end());
  inputs[at] = weights.view();
  exact.run({.inputs = inputs, .output = c.output, .workspace = c.workspace});
}

std::unique_ptr<Kernel> conv_without_a_tap(const OpContext& op, KernelSet set) {
  const auto at = static_cast<std::size_t>(std::get<ConvAttrs>(op.attrs).parts);
  return wrapped("conv", op, set,
                 [at](const Kernel& exact, const KernelCall& c) { run_without_the_first_tap(exact, c, at); });
}

std::unique_ptr<Kernel> input_grad_without_a_tap(const OpContext& op, KernelSet set) {
  return wrapped("conv_input_grad", op, set,
                 [](const Kernel& exact, const KernelCall& c) { run_without_the_first_tap(exact, c, 1); });
}

/// Returns a sum over voxels that leaves out the last row of its block.
std::unique_ptr<Kernel> weight_grad_without_a_row(const OpContext& op, KernelSet set) {
  return wrapped("conv_weight_grad", op, set, [](const Kernel& exact, const KernelCall& c) {
    std::vector<TensorView> inputs(c.inputs.begin(), c.inputs.end());
    Box fewer = inputs[1].box;
    fewer.set(3, fewer.begin[3], fewer.end(3) - 1);
    inputs[1] = inputs[1].sub(fewer);
    exact.run({.inputs = inputs, .output = c.output, .workspace = c.workspace});
  });
}

TEST_P(PlantedFault, AWrongTapOfAConvolutionIsNamedThoughBothSidesHaveIt) {
  expect_found(checked(with_kernel("conv", conv_without_a_tap)), "encoder0/conv0", "kernel");
}

TEST_P(PlantedFault, AWrongTapOfATransposedConvolutionIsNamedThoughBothSidesHaveIt) {
  expect_found(checked(with_kernel("conv_input_grad", input_grad_without_a_tap)), "decoder1/up", "kernel");
}

TEST_P(PlantedFault, ASumThatForgetsARowOnBothSidesIsNamed) {
  expect_found(checked(with_kernel("conv_weight_grad", weight_grad_without_a_row)), "grad/head/weights", "kernel");
}

TEST_P(PlantedFault, AWrongTapOfOneCoreIsNamedAgainstTheUncutModel) {
  // Only the cut model is wrong: one of its convolutions is bound to a kernel that lacks a tap.
  EquivalenceOptions o = options();
  o.oracle = Oracles::kFast;
  o.lower = [](const Graph& graph, const OpTable& ops, const Cut& cut, const Target& target) {
    Executable executable = lower(graph, ops, cut, target);
    for (std::size_t i = 0; i < executable.program.instructions.size(); ++i) {
      const ValueId id = executable.program.instructions[i].value;
      const Node& node = executable.program.graph.node(id);
      if (node.name != "encoder1/conv1" || executable.program.instructions[i].kind != InstructionKind::kCompute)
        continue;
      const auto types = executable.program.graph.input_types(id);
      executable.kernels.by_value[id].kernel = conv_without_a_tap({node.attrs, types, node.type}, KernelSet::kFast);
    }
    return executable;
  };
  WorkerPool pool(2);
  expect_found(check_equivalence(o, pool), "encoder1/conv1", "result");
}

INSTANTIATE_TEST_SUITE_P(Precisions, PlantedFault, testing::Values(DType::kF32, DType::kBF16),
                         [](const auto& at) { return std::string(dtype_name(at.param)); });

}  // namespace
}  // namespace voxshard
