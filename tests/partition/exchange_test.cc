// An Exchange, run by hand on tensors of signatures: every held voxel inside the image arrives from its owner, no owned
// voxel is changed, a halo may be wider than a neighbour's shard, and the transpose is the adjoint.
#include "libcore/tensor/rows.h"
#include "libcore/tensor/tensor.h"
#include "tests/partition/partition_scene.h"

namespace voxshard {
namespace {

using namespace test;

const Instruction* exchange_of(const Program& program, ValueId id) {
  for (const Instruction& instruction : program.instructions)
    if (instruction.kind == InstructionKind::kExchange && instruction.value == id) return &instruction;
  return nullptr;
}

/// The box of a value that each core holds, with its memory.
struct Held {
  std::vector<Tensor> memory;
  std::vector<TensorView> views;

  Held(const ValuePlan& plan, DType dtype) {
    for (const Box& box : plan.held) {
      memory.emplace_back(dtype, box.extent);
      views.push_back(dense_view(memory.back().data(), dtype, box));
    }
  }
};

template <class Value>
void fill(const TensorView& view, Value value) {
  for_each_row(view.box, [&](const Dims& at) {
    Dims here = at;
    for (std::int64_t c = 0; c < row_count(view.box); ++c, ++here[here.axes() - 1])
      store(view, offset_at(view, at) + c, value(static_cast<const Dims&>(here)));
  });
}

double dot(const TensorView& a, const TensorView& b) {
  double sum = 0;
  for_each_row(a.box, [&](const Dims& at) {
    for (std::int64_t c = 0; c < row_count(a.box); ++c)
      sum += load(a, offset_at(a, at) + c) * load(b, offset_at(b, at) + c);
  });
  return sum;
}

void expect_margins_hold_the_tensor(const Program& program, ValueId id) {
  const ValuePlan& plan = program.plan(id);
  const Box whole = Box::whole(program.graph.node(id).type.shape);
  Held held(plan, DType::kF64);
  for (std::size_t c = 0; c < plan.own.size(); ++c) {
    fill(held.views[c], [](const Dims&) { return -1.0; });
    fill(held.views[c].sub(plan.own[c]), signature);
  }
  if (const Instruction* exchange = exchange_of(program, id)) {
    for (const Copy& piece : exchange->copies)
      copy(held.views[piece.from].sub(piece.box), held.views[piece.to].sub(piece.box));
  }
  for (std::size_t c = 0; c < plan.own.size(); ++c) {
    const TensorView inside = held.views[c].sub(intersect(plan.held[c], whole));
    Tensor expected(DType::kF64, inside.box.extent);
    const TensorView view = dense_view(expected.data(), DType::kF64, inside.box);
    fill(view, signature);
    if (!inside.box.empty()) {
      EXPECT_TRUE(compare(view, inside).bit_equal) << "core " << c << " of " << to_string(program.mesh().partition);
    }
  }
}

TEST(Exchange, EveryHeldMarginEqualsTheWholeTensor) {
  constexpr std::uint64_t kSeed = 21;
  for (std::uint64_t i = 0; i < 200; ++i) {
    std::uint64_t draw = 16 * i;
    auto below = [&](std::int64_t n) { return rng_below({kSeed, 1}, draw++, n); };
    Shape image{1 + below(3)};
    Dims parts{1 + below(3)};
    const int spatial = 2 + static_cast<int>(below(2));
    for (int a = 0; a < spatial; ++a) {
      image.push_back(1 + below(12));
      parts.push_back(1 + below(4));
    }
    image.push_back(1);
    parts.push_back(1);
    const std::int64_t kernel = 1 + below(7), stride = 1 + below(3), dilation = 1 + below(2);
    SCOPED_TRACE("seed " + std::to_string(kSeed) + " case " + std::to_string(i) + ": " + to_string(image) + " over " +
                 to_string(parts) + " kernel " + std::to_string(kernel) + " stride " + std::to_string(stride) +
                 " dilation " + std::to_string(dilation));
    const Program program = cut(conv_graph(image, kernel, stride, dilation), parts, 1 + below(2));
    EXPECT_EQ(joined(verify(program, op_table())), "");
    expect_margins_hold_the_tensor(program, program.graph.find("image"));
  }
}

/// A convolution of 3 x 3.
constexpr std::string_view kThree = R"(
  image = input : f32[1x8x8x1]
  kernel = parameter : f32[3x3x1x2]
  conv = conv %image, %kernel kernel=3x3 pad=1x1/1x1
)";

TEST(Exchange, HaloWiderThanAShardReachesTwoNeighbours) {
  // 8 over 4 shards of 2; kernel 7 reads 3 voxels to either side: two shards, the second in part.
  const Program program = cut(R"(
    image = input : f32[1x8x4x1]
    kernel = parameter : f32[7x7x1x2]
    conv = conv %image, %kernel kernel=7x7 pad=3x3/3x3
  )",
                              {1, 4, 1, 1});
  const Instruction* exchange = exchange_of(program, 0);
  ASSERT_NE(exchange, nullptr);
  std::vector<std::pair<std::int64_t, Box>> into_first;
  for (const Copy& piece : exchange->copies)
    if (piece.to == 0) into_first.emplace_back(piece.from, piece.box);
  ASSERT_EQ(into_first.size(), 2U);
  EXPECT_EQ(into_first[0], (std::pair<std::int64_t, Box>{1, {{0, 2, 0, 0}, {1, 2, 4, 1}}}));
  EXPECT_EQ(into_first[1], (std::pair<std::int64_t, Box>{2, {{0, 4, 0, 0}, {1, 1, 4, 1}}}));
  expect_margins_hold_the_tensor(program, 0);
}

TEST(Exchange, AKernelOfOneMovesNothing) {
  constexpr std::string_view kOne = R"(
    image = input : f32[1x8x8x1]
    kernel = parameter : f32[1x1x1x2]
    conv = conv %image, %kernel kernel=1x1
  )";
  EXPECT_EQ(exchange_of(cut(kOne, {1, 2, 2, 1}), 0), nullptr);
}

TEST(Exchange, AnUncutTensorMovesNothing) {
  constexpr std::string_view kVolume = R"(
    image = input : f32[2x8x8x8x1]
    kernel = parameter : f32[3x3x3x1x2]
    conv = conv %image, %kernel kernel=3x3x3 pad=1x1x1/1x1x1
  )";
  EXPECT_EQ(exchange_of(cut(kVolume, {1, 1, 1, 1, 1}), 0), nullptr);
}

TEST(Exchange, SamplesNeverMoveBetweenReplicas) {
  const Program program = cut(R"(
    image = input : f32[4x8x8x1]
    kernel = parameter : f32[3x3x1x2]
    conv = conv %image, %kernel kernel=3x3 pad=1x1/1x1
  )",
                              {1, 2, 1, 1}, 2);
  const Instruction* exchange = exchange_of(program, 0);
  ASSERT_NE(exchange, nullptr);
  for (const Copy& piece : exchange->copies)
    EXPECT_EQ(piece.from / program.mesh().cores_per_replica(), piece.to / program.mesh().cores_per_replica());
}

TEST(Exchange, AValueWithMarginsOutsideTheImageIsFilledBeforeItIsRead) {
  const Program program = cut(kThree, {1, 2, 1, 1});
  ASSERT_EQ(program.instructions.size(), 4U);
  EXPECT_EQ(program.instructions[0].kind, InstructionKind::kFillMargin);
  EXPECT_EQ(program.instructions[1].kind, InstructionKind::kExchange);
  EXPECT_EQ(program.instructions[2].kind, InstructionKind::kPack);
  EXPECT_EQ(program.instructions[3].kind, InstructionKind::kCompute);
}

// H: owned -> held is linear; its transpose adds each margin voxel to its owner. <H x, y> = <x, H^T y>.
TEST(Exchange, TheTransposeIsTheAdjoint) {
  constexpr std::uint64_t kSeed = 33;
  const Program program = cut(R"(
    image = input : f32[1x9x7x5x2]
    kernel = parameter : f32[5x5x5x2x2]
    conv = conv %image, %kernel kernel=5x5x5 pad=2x2x2/2x2x2
  )",
                              {1, 4, 2, 1, 1});
  const ValuePlan& plan = program.plan(0);
  const Box whole = Box::whole(program.graph.node(0).type.shape);
  Held x(plan, DType::kF64), y(plan, DType::kF64);
  for (std::size_t c = 0; c < plan.own.size(); ++c) {
    auto random = [&](std::uint64_t stream) {
      return [=](const Dims& at) { return rng_normal({kSeed, stream}, static_cast<std::uint64_t>(signature(at))); };
    };
    fill(x.views[c].sub(plan.own[c]), random(0));
    fill(y.views[c].sub(intersect(plan.held[c], whole)), random(1 + c));
  }
  const Instruction* exchange = exchange_of(program, 0);
  ASSERT_NE(exchange, nullptr);
  auto view = [](const Held& held, std::int64_t core, const Box& box) { return held.views[core].sub(box); };
  double adjoint = 0;  // <x, H^T y>: owned parts, and each margin weighed with its owner's x
  for (std::size_t c = 0; c < plan.own.size(); ++c)
    adjoint += dot(x.views[c].sub(plan.own[c]), y.views[c].sub(plan.own[c]));
  for (const Copy& piece : exchange->copies)
    adjoint += dot(view(x, piece.from, piece.box), view(y, piece.to, piece.box));
  for (const Copy& piece : exchange->copies) copy(view(x, piece.from, piece.box), view(x, piece.to, piece.box));
  double forward = 0;  // <H x, y>
  for (std::size_t c = 0; c < plan.own.size(); ++c) forward += dot(x.views[c], y.views[c]);
  EXPECT_NEAR(forward, adjoint, 1e-9) << "seed " << kSeed;
  EXPECT_GT(std::abs(forward), 1.0);
}

// Splitting a whole tensor over the cores and collecting it from the owners is the identity.
TEST(Exchange, ScatterThenGatherIsTheIdentity) {
  const Program program = cut(R"(
    image = input : f32[3x13x11x7x2]
    kernel = parameter : f32[3x3x3x2x2]
    conv = conv %image, %kernel kernel=3x3x3 pad=1x1x1/1x1x1
  )",
                              {2, 3, 2, 1, 1});
  const ValuePlan& plan = program.plan(0);
  Tensor whole(DType::kF64, program.graph.node(0).type.shape), back(DType::kF64, whole.shape());
  fill(whole.view(), signature);
  Held held(plan, DType::kF64);
  for (std::size_t c = 0; c < plan.own.size(); ++c) {
    copy(whole.view(), held.views[c].sub(plan.own[c]));
    copy(held.views[c].sub(plan.own[c]), back.view().sub(plan.own[c]));
  }
  EXPECT_TRUE(compare(whole.view(), back.view()).bit_equal);
}

}  // namespace
}  // namespace voxshard
