// The whole text of a program and its parser: what is written is read back, verify() checks a scene by hand, and
// anything else is refused with its line.
#include "libcore/partition/text.h"

#include "libcore/graph/autodiff.h"
#include "tests/expect_error.h"
#include "tests/partition/partition_scene.h"
#include "tests/partition/program_text.h"

namespace voxshard {
namespace {

using namespace test;

TEST(ProgramText, AProgramByHandIsTheOneThatIsMade) {
  const Program by_hand = parse_program(kProgramByHand, op_table());
  EXPECT_EQ(joined(verify(by_hand, op_table())), "");
  EXPECT_EQ(by_hand, cut(by_hand.graph, {1, 2, 1, 1}));
}

void expect_reads_back(const Program& program) {
  const std::string text = whole_text(program);
  const Program again = parse_program(text, op_table());
  EXPECT_EQ(again, program) << text;
  EXPECT_EQ(whole_text(again), text);
}

TEST(ProgramText, ProgramsOfManyShapesAndMeshesReadBack) {
  constexpr std::uint64_t kSeed = 11;
  for (std::uint64_t i = 0; i < 100; ++i) {
    std::uint64_t draw = 16 * i;
    auto below = [&](std::int64_t n) { return rng_below({kSeed, 1}, draw++, n); };
    const Shape image{1 + below(4), 1 + below(12), 1 + below(12), 2};
    const Dims parts{1 + below(2), 1 + below(4), 1 + below(3), 1};
    SCOPED_TRACE("seed " + std::to_string(kSeed) + " case " + std::to_string(i) + ": " + to_string(image) + " over " +
                 to_string(parts));
    Graph graph = conv_graph(image, 1 + below(4), 1 + below(2));
    Builder b(graph, op_table());
    const NormAttrs norm{.groups = image[0], .batch = image[0]};
    const ValueId sums = b.op("moment_sums", {graph.find("conv")}, norm, "sums");
    b.op("norm_stats", {sums}, norm, "stats");
    differentiate(b, b.op("sum_all", {graph.find("conv")}, {}, "loss"));
    expect_reads_back(cut(graph, parts, 1 + below(2)));
  }
}

TEST(ProgramText, BoxesThatAreNotTheirLayoutsReadBack) {
  Program program = parse_program(kProgramByHand, op_table());
  program.values[0].own[1].set(1, 2, 6);
  expect_reads_back(program);
}

TEST(ProgramText, AWordChangedByHandIsFoundByVerify) {
  std::string text(kProgramByHand);
  const std::string copy = "0>1 [0:1, 2:3,";
  text.replace(text.find(copy), copy.size(), "0>1 [0:1, 1:2,");
  EXPECT_TRUE(any_has(verify(parse_program(text, op_table()), op_table()), "a copy leaves its boxes"));
}

struct Wrong {
  std::string_view from, to, piece;  // one line is replaced
};

TEST(ParseProgram, RefusesWithTheLineAndWhatIsWrong) {
  for (const Wrong& wrong : {
           Wrong{"cut replicas=1 partition=1x2x1x1", "", "line 7: expected ="},
           Wrong{"1x2x1x1\n", "1x2x1x1 recompute=all\n", "line 6: expected what is recomputed: none, norms"},
           Wrong{"1x2x1x1\n", "1x2x1x1\n  placed labels here\n", "line 7: expected how the input is placed"},
           Wrong{"replicas=1", "replicas=0", "line 6: expected 1 to 65536 cores"},
           Wrong{"partition=1x2x1x1", "partition=1x2x99999x1", "expected 1 to 65536 cores"},
           Wrong{"value %0 cut 0:1 | 0:3 3:6", "value %0 cut 0:1 | 0:6", "line 7: expected 2 intervals along axis 1"},
           Wrong{"value %0 cut 0:1 | 0:3 3:6 | 0:4", "value %0 cut 0:1 | 0:3 3:6 | 0:4 grid=1x3x1x1",
                 "a grid of as many cores"},
           Wrong{"value %0 cut", "value %9 cut", "the graph has no such value"},
           Wrong{"held %0 [0:1, -1:4, -1:5, 0:1]", "held %0", "line 8: expected 2 boxes"},
           Wrong{"[0:1, -1:4, -1:5, 0:1]", "[0:1, -1:4, -1:5]", "expected boxes of rank 4"},
           Wrong{"1>0 [0:1, 3:4", "2>0 [0:1, 3:4", "there is no core 2"},
           Wrong{"1>0 [0:1, 3:4", "1>0 [0:1, 4:3", "ends where it begins or later"},
           Wrong{"exchange %0", "exchange %1", "a replicated value is not exchanged"},
           Wrong{"compute %2 |", "compute %0 |", "image is not computed"},
           Wrong{"compute %2 | [0:1, 0:3, 0:4, 0:2]", "compute %2", "the blocks of 2 cores"},
           Wrong{"pack %2", "pack %3", "sum has no weights to pack"},
           Wrong{"pack %2", "pack %0", "image has no weights to pack"},
           Wrong{"join %3", "reduce %3", "an instruction: compute, join, fill_margin, exchange, pack"},
           Wrong{"prologue 0", "prologue 7", "there are not as many instructions"},
       }) {
    std::string text(kProgramByHand);
    text.replace(text.find(wrong.from), wrong.from.size(), wrong.to);
    expect_error(ErrorKind::kConfig, std::string(wrong.piece), [&] { parse_program(text, op_table()); });
  }
}

// A changed text is a program that can be verified, or is refused.
TEST(ParseProgram, AChangedTextIsAProgramOrAConfigError) {
  constexpr std::uint64_t kSeed = 4;
  constexpr std::string_view kPieces[] = {"%", "0",  "9", "-", "1", "|",   ":",       ",",
                                          " ", "\n", "[", "]", ">", "cut", "partial", "99999999999"};
  const std::string whole = whole_text(parse_program(kProgramByHand, op_table()));
  int programs = 0;
  for (std::uint64_t i = 0; i < 3000; ++i) {
    std::uint64_t draw = 64 * i;
    auto below = [&](std::size_t n) {
      return static_cast<std::size_t>(rng_below({kSeed, 1}, draw++, static_cast<std::int64_t>(n)));
    };
    std::string text = whole;
    for (std::size_t changes = 1 + below(3); changes > 0; --changes) {
      const std::size_t at = below(text.size());
      if (below(2) == 0)
        text.erase(at, 1 + below(8));
      else
        text.insert(at, kPieces[below(std::size(kPieces))]);
    }
    try {
      const Program program = parse_program(text, op_table());
      verify(program, op_table());
      ++programs;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kConfig) << "seed " << kSeed << " case " << i << ": " << error.what();
    }
  }
  EXPECT_GT(programs, 0);
}

}  // namespace
}  // namespace voxshard
