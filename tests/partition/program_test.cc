// verify(Program) finds what is broken by hand; the text form; partial results are joined at once.
#include "libcore/partition/text.h"

#include <functional>

#include "tests/partition/partition_scene.h"

namespace voxshard {
namespace {

using namespace test;

/// image -> conv -> channel_sum, cut over three cores: margins on both sides of the middle one, and one contraction.
constexpr std::string_view kSound = R"(
  image = input : f32[1x9x4x1]
  kernel = parameter : f32[3x3x1x2]
  conv = conv %image, %kernel kernel=3x3 pad=1x1/1x1
  sum = channel_sum %conv
)";

Program valid_program() { return cut(kSound, {1, 3, 1, 1}); }

void expect_found(const std::function<void(Program&)>& damage, const std::string& piece) {
  Program program = valid_program();
  ASSERT_EQ(joined(verify(program, op_table())), "");
  damage(program);
  const auto broken = verify(program, op_table());
  EXPECT_TRUE(any_has(broken, piece)) << "expected \"" << piece << "\", found:\n" << joined(broken);
}

Instruction& image_exchange(Program& program) {
  return program.instructions[index_of(program, InstructionKind::kExchange, "image")];
}

TEST(VerifyProgram, FindsAMissingCopy) {
  expect_found([](Program& p) { image_exchange(p).copies.pop_back(); }, "misses part of its margin");
}

TEST(VerifyProgram, FindsAMissingExchange) {
  expect_found(
      [](Program& p) {
        const auto i = static_cast<std::ptrdiff_t>(index_of(p, InstructionKind::kExchange, "image"));
        p.instructions.erase(p.instructions.begin() + i);
      },
      "misses part of its margin");
}

TEST(VerifyProgram, FindsACopyTwice) {
  expect_found([](Program& p) { image_exchange(p).copies.push_back(image_exchange(p).copies[0]); },
               "misses part of its margin or gets it twice");
}

TEST(VerifyProgram, FindsACopyTwiceInPlaceOfAnotherOfItsSize) {
  expect_found(
      [](Program& p) {
        std::vector<Copy*> into_middle;
        for (Copy& piece : image_exchange(p).copies)
          if (piece.to == 1) into_middle.push_back(&piece);
        ASSERT_EQ(into_middle.size(), 2U);
        ASSERT_EQ(into_middle[0]->box.count(), into_middle[1]->box.count());
        *into_middle[1] = *into_middle[0];
      },
      "core 1 gets [0:1, 2:3, 0:4, 0:1] twice");
}

TEST(VerifyProgram, FindsACopyOfTheWrongBox) {
  expect_found([](Program& p) { image_exchange(p).copies[0].box.begin[1] += 1; }, "a copy leaves its boxes");
}

TEST(VerifyProgram, FindsACopyFromACoreThatDoesNotOwnTheBox) {
  expect_found([](Program& p) { image_exchange(p).copies[0].from = 2; }, "a copy leaves its boxes");
}

TEST(VerifyProgram, FindsACopyIntoOwnedVoxels) {
  expect_found(
      [](Program& p) {
        ValuePlan& image = p.values[0];
        image_exchange(p).copies.push_back({0, 0, image.own[0]});
      },
      "writes into owned voxels of core 0");
}

TEST(VerifyProgram, FindsBoxesThatOverlap) {
  expect_found([](Program& p) { p.values[0].own[1].set(1, 2, 6); }, "overlap");
}

TEST(VerifyProgram, FindsBoxesThatDoNotCoverTheTensor) {
  expect_found([](Program& p) { p.values[0].own[2].set(1, 6, 8); }, "do not cover the tensor");
}

TEST(VerifyProgram, FindsACoreThatDoesNotHoldWhatItOwns) {
  expect_found([](Program& p) { p.values[0].held[0].set(1, 1, 4); }, "does not hold what it owns");
}

TEST(VerifyProgram, FindsAReadBeyondWhatIsHeld) {
  expect_found(
      [](Program& p) {
        ValuePlan& image = p.values[0];
        image.held[1] = image.own[1];
      },
      "core 1 reads input 0 beyond what it holds");
}

TEST(VerifyProgram, FindsAValueThatIsReadBeforeItIsComputed) {
  expect_found(
      [](Program& p) {
        std::swap(p.instructions[index_of(p, InstructionKind::kCompute, "conv")],
                  p.instructions[index_of(p, InstructionKind::kCompute, "sum")]);
      },
      "before it is ready");
}

TEST(VerifyProgram, FindsWeightsThatArePackedTooLateOrNotAtAll) {
  auto drop = [](Program& p) {
    p.instructions.erase(p.instructions.begin() +
                         static_cast<std::ptrdiff_t>(index_of(p, InstructionKind::kPack, "conv")));
  };
  expect_found(drop, "is computed before its weights are packed");
  expect_found(
      [](Program& p) {
        std::swap(p.instructions[index_of(p, InstructionKind::kPack, "conv")],
                  p.instructions[index_of(p, InstructionKind::kCompute, "conv")]);
      },
      "is computed before its weights are packed");
}

TEST(VerifyProgram, FindsAMarginThatIsReadBeforeItArrives) {
  expect_found(
      [](Program& p) { std::swap(image_exchange(p), p.instructions[index_of(p, InstructionKind::kCompute, "conv")]); },
      "before it is ready");
}

TEST(VerifyProgram, FindsAMarginOutsideTheImageThatNobodyFills) {
  expect_found(
      [](Program& p) {
        const auto i = static_cast<std::ptrdiff_t>(index_of(p, InstructionKind::kFillMargin, "image"));
        p.instructions.erase(p.instructions.begin() + i);
      },
      "nobody fills");
}

TEST(VerifyProgram, FindsAPartialResultThatIsNotJoined) {
  Program program = cut(std::string(kSound) + "twice = scale %sum by=2", {1, 3, 1, 1});
  ASSERT_EQ(joined(verify(program, op_table())), "");
  const auto join = static_cast<std::ptrdiff_t>(index_of(program, InstructionKind::kJoin, "sum"));
  program.instructions.erase(program.instructions.begin() + join);
  EXPECT_TRUE(any_has(verify(program, op_table()), "before it is ready")) << joined(verify(program, op_table()));
}

TEST(Program, AContractionOverACutTensorIsPartialAndJoinedAtOnce) {
  const Program program = valid_program();
  const std::size_t i = index_of(program, InstructionKind::kCompute, "sum");
  EXPECT_TRUE(program.instructions[i].partial);
  ASSERT_LT(i + 1, program.instructions.size());
  EXPECT_EQ(program.instructions[i + 1].kind, InstructionKind::kJoin);
  EXPECT_EQ(program.instructions[i + 1].value, program.instructions[i].value);
}

TEST(Program, ABoxThatSeveralCoresHoldIsSummedOnce) {
  // One group per sample; the sums of a sample live on both cores that hold parts of it, its column is summed from one.
  const Program program = cut(R"(
    x = input : f32[2x8x4x3]
    sums = moment_sums %x groups=2 batch=2
    column = group_column %sums
  )",
                              {2, 2, 1, 1});
  std::int64_t groups = 0;
  for (const Box& box : iteration_boxes(program, op_table(), program.graph.find("column")))
    groups += box.empty() ? 0 : box.extent[0];
  EXPECT_EQ(groups, 2);
}

TEST(Program, WhatReadsOnlyParametersComesFirst) {
  const Program program = cut(R"(
    x = input : bf16[1x4x4x1]
    y = leaky_relu %x slope=0
    w = parameter : f32[1x1x1x1]
    narrow = convert %w dtype=bf16
    conv = conv %y, %narrow kernel=1x1 dtype=bf16
  )",
                              {1, 2, 1, 1});
  EXPECT_EQ(program.prologue, 1U);
  EXPECT_EQ(program.instructions[0].value, program.graph.find("narrow"));
}

TEST(Program, TextFormShowsShapesBoxesHalosAndBytes) {
  EXPECT_EQ(to_text(valid_program()),
            "mesh replicas=1 partition=1x3x1x1 cores=3\n"
            "input        image : f32[1x9x4x1], core 0 owns [0:1, 0:3, 0:4, 0:1] holds [0:1, -1:4, -1:5, 0:1], "
            "halo low 0x1x1x0 high 0x1x1x0; cut like the mesh\n"
            "fill_margin  image, 152 bytes\n"
            "exchange     image, 4 copies, 64 bytes, the widest 16\n"
            "pack         weights of conv, 72 bytes\n"
            "compute      conv = conv : f32[1x9x4x2], 3 blocks, core 0 owns [0:1, 0:3, 0:4, 0:2], no halo; carried "
            "from image\n"
            "compute      sum = channel_sum : f32[2], 3 blocks, partial\n"
            "join         sum : f32[2], 8 bytes\n");
}

TEST(Program, TextFormTellsTheHaloOfEachSide) {
  // A window of 4 with SAME padding reads one below and two above.
  const std::string text = to_text(cut(R"(
    image = input : f32[1x8x4x1]
    kernel = parameter : f32[4x4x1x2]
    conv = conv %image, %kernel kernel=4x4 pad=1x1/2x2
  )",
                                       {1, 2, 1, 1}));
  EXPECT_NE(text.find("halo low 0x1x1x0 high 0x2x2x0"), std::string::npos) << text;
}

}  // namespace
}  // namespace voxshard
