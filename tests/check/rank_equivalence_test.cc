// The check of a cut model over several ranks: each checks what its own cores hold, the report equals that of one
// process, and a message that was damaged or lost is named at its layer, with rank and core.
#include <gtest/gtest.h>

#include "libcore/check/equivalence.h"
#include "libcore/models/retinanet.h"
#include "libcore/models/unet.h"
#include "libcore/ops/op_table.h"
#include "tests/ranks/mailbox.h"

namespace voxshard {
namespace {

using namespace test;

EquivalenceOptions unet_over(const std::string& partition, DType dtype = DType::kF32) {
  EquivalenceOptions options;
  options.factory = [](DType type) {
    return build_unet({.base_filters = 4, .depth = 2}, {.batch = 1, .size = {12, 9, 10}, .dtype = type}, op_table());
  };
  options.dtype = dtype;
  options.cut.mesh = {.partition = parse_partition(partition, 5)};
  options.oracle = Oracles::kFast;
  options.seed = 3;
  return options;
}

EquivalenceReport alone(const EquivalenceOptions& options) {
  WorkerPool pool(1);
  return check_equivalence(options, pool);
}

std::vector<EquivalenceReport> over_ranks(int ranks, const EquivalenceOptions& options,
                                          const std::function<void(Letter&)>& postman = {}) {
  Mailbox mailbox(ranks);
  mailbox.postman = postman;
  std::vector<EquivalenceReport> reports(static_cast<std::size_t>(ranks));
  run_valid_ranks(mailbox, [&](Transport& transport) {
    WorkerPool pool(1);
    EquivalenceOptions own = options;
    own.transport = &transport;
    reports[transport.rank()] = check_equivalence(own, pool);
  });
  return reports;
}

void expect_numbers_of(const EquivalenceReport& one, const EquivalenceReport& rank) {
  EXPECT_TRUE(rank.equal()) << rank.first_difference->layer << " " << rank.first_difference->what;
  EXPECT_GT(rank.layers, 20);
  EXPECT_EQ(rank.layers, one.layers);
  EXPECT_EQ(rank.bit_equal, one.bit_equal);
  EXPECT_EQ(rank.within_tolerance, one.within_tolerance);
  EXPECT_EQ(rank.widest_ratio, one.widest_ratio);
  EXPECT_EQ(rank.loss_uncut, one.loss_uncut);
  EXPECT_EQ(rank.loss_cut, one.loss_cut);
  EXPECT_EQ(rank.loss_higher, one.loss_higher);
  EXPECT_EQ(rank.tensors, one.tensors);
  EXPECT_EQ(rank.end_to_end_ratio, one.end_to_end_ratio);
  EXPECT_EQ(rank.end_to_end_relative, one.end_to_end_relative);
}

TEST(RankEquivalence, HasTheNumbersOfOneProcessWhateverTheNumberOfRanks) {
  for (const DType dtype : {DType::kF32, DType::kBF16}) {
    const EquivalenceOptions options = unet_over("1x3x1x2x1", dtype);
    const EquivalenceReport one = alone(options);
    for (int ranks = 2; ranks <= 4; ++ranks) {
      SCOPED_TRACE(std::to_string(ranks) + " ranks, " + dtype_name(dtype));
      for (const EquivalenceReport& rank : over_ranks(ranks, options)) expect_numbers_of(one, rank);
    }
  }
}

TEST(RankEquivalence, HoldsForReplicasAndRanksWithoutACore) {
  EquivalenceOptions options = unet_over("1x2x1x1x1");
  options.cut.mesh.replicas = 2;
  options.factory = [](DType type) {
    return build_unet({.base_filters = 4, .depth = 2},
                      {.batch = 2, .size = {8, 8, 8}, .dtype = type, .norm_replicas = 2}, op_table());
  };
  const EquivalenceReport one = alone(options);
  for (int ranks : {3, 5})
    for (const EquivalenceReport& rank : over_ranks(ranks, options)) expect_numbers_of(one, rank);
}

TEST(RankEquivalence, HoldsForARetinaNetWhoseSmallLevelsAreOnEveryCore) {
  EquivalenceOptions options = unet_over("1x1x1x1x1");
  options.factory = [](DType type) {
    return build_retinanet({.backbone = Backbone::kResNet18, .classes = 4, .filters = 4, .pyramid_filters = 8},
                           {.batch = 1, .size = {64, 96}, .dtype = type}, op_table());
  };
  options.cut.mesh = {.partition = {1, 2, 2, 1}};
  const EquivalenceReport one = alone(options);
  for (const EquivalenceReport& rank : over_ranks(3, options)) expect_numbers_of(one, rank);
}

TEST(RankEquivalence, DelayedMessagesChangeNothing) {
  const EquivalenceOptions options = unet_over("1x4x1x1x1");
  const EquivalenceReport one = alone(options);
  const auto slow = [](Letter& letter) { letter.held_up = static_cast<int>((letter.number * 7 + letter.from) % 23); };
  for (const EquivalenceReport& rank : over_ranks(3, options, slow)) expect_numbers_of(one, rank);
}

/// Returns the message tag of the first instruction of a kind for a value.
int tag_of(const EquivalenceOptions& options, const std::string& layer, InstructionKind kind) {
  const Executable cut = lower(options.factory(options.dtype), op_table(), options.cut, {});
  const auto& instructions = cut.program.instructions;
  for (std::size_t i = 0; i < instructions.size(); ++i)
    if (instructions[i].kind == kind && cut.program.graph.node(instructions[i].value).name == layer)
      return message_tag(i);
  throw std::logic_error("no such instruction: " + layer);
}

struct Fault {
  std::string layer;
  InstructionKind kind;
  bool lost;
  const char* what;
};

class FaultyMessage : public testing::TestWithParam<Fault> {};

TEST_P(FaultyMessage, IsNamedAtItsLayerWithRankAndCoreOnAllRanks) {
  const EquivalenceOptions options = unet_over("1x4x1x1x1");
  const int tag = tag_of(options, GetParam().layer, GetParam().kind);
  bool met = false;  // at the first from rank 1 to rank 0, in the layer-by-layer part
  const auto postman = [&](Letter& letter) {
    if (met || letter.from != 1 || letter.to != 0 || letter.tag != tag) return;
    met = true;
    if (GetParam().lost)
      letter.lost = true;
    else
      letter.damaged = 7;  // sign and exponent
  };
  for (const EquivalenceReport& report : over_ranks(2, options, postman)) {
    ASSERT_TRUE(met);
    ASSERT_FALSE(report.equal());
    EXPECT_EQ(report.first_difference->layer, GetParam().layer);
    EXPECT_EQ(report.first_difference->what, GetParam().what);
    EXPECT_EQ(report.first_difference->rank, "rank 0");
    EXPECT_EQ(report.first_difference->core, std::string(GetParam().what) == "margin" ? 1 : -1)
        << "cores 0 and 1 are rank 0's; of a sum all have the result";
  }
}

std::string test_name(const testing::TestParamInfo<Fault>& info) {
  return std::string(info.param.lost ? "Lost" : "Damaged") +
         (info.param.kind == InstructionKind::kJoin ? "Sum" : "Margin");
}

INSTANTIATE_TEST_SUITE_P(Kinds, FaultyMessage,
                         testing::Values(Fault{"encoder0/conv0/norm", InstructionKind::kExchange, false, "margin"},
                                         Fault{"encoder1/conv0/norm", InstructionKind::kExchange, true, "margin"},
                                         Fault{"encoder0/conv0/norm/sums", InstructionKind::kJoin, false, "result"},
                                         Fault{"grad/encoder1/conv0/weights", InstructionKind::kJoin, true, "result"}),
                         test_name);

}  // namespace
}  // namespace voxshard
