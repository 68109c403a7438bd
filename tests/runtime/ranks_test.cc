// Ranks are core sets with memory, parameters and workers of their own. Here they are threads, and every message goes
// through a mailbox: however many there are, they train to the bytes of one process.
#include "tests/ranks/mailbox.h"
#include "tests/runtime/rank_scene.h"

namespace voxshard {
namespace {

using namespace test;

std::vector<RankOutcome> train_over(int ranks, const SceneOptions& options,
                                    const std::function<void(Letter&)>& postman = {}) {
  Mailbox mailbox(ranks);
  mailbox.postman = postman;
  std::vector<RankOutcome> outcomes(static_cast<std::size_t>(ranks));
  run_valid_ranks(mailbox, [&](Transport& t) { outcomes[t.rank()] = train_as_rank(unet_scene(options), &t); });
  return outcomes;
}

void expect_bytes_of_one(const RankOutcome& rank, const RankOutcome& one) {
  EXPECT_EQ(first_difference(rank.gradients, one.gradients), "");
  EXPECT_EQ(first_difference(rank.parameters, one.parameters), "");
  EXPECT_EQ(first_difference(rank.averages, one.averages), "");
  EXPECT_EQ(first_difference(rank.optimizer, one.optimizer), "");
  EXPECT_EQ(rank.losses, one.losses);
}

class EveryCut : public testing::TestWithParam<SceneOptions> {};

TEST_P(EveryCut, AnyNumberOfRanksTrainsToTheBytesOfOne) {
  const RankOutcome one = train_as_rank(unet_scene(GetParam()), nullptr);
  EXPECT_EQ(one.messages, 0);
  EXPECT_TRUE(one.sent.empty());
  const auto cores = static_cast<int>(scene_cut(GetParam()).mesh.cores());
  for (int ranks = 2; ranks <= std::min(4, cores); ++ranks) {
    SCOPED_TRACE(std::to_string(ranks) + " ranks");
    std::int64_t arenas = 0;
    for (const RankOutcome& rank : train_over(ranks, GetParam())) {
      expect_bytes_of_one(rank, one);
      EXPECT_GT(rank.messages, 0) << "buffers are planned";
      EXPECT_EQ(rank.sent, rank.planned) << "the program says what is sent";
      arenas += rank.own_arenas;
    }
    EXPECT_EQ(arenas, one.own_arenas) << "no core is held twice";
  }
}

INSTANTIATE_TEST_SUITE_P(
    Ranks, EveryCut,
    testing::Values(
        SceneOptions{.partition = "1x2x1x1x1"}, SceneOptions{.partition = "1x2x2x2x1", .dtype = DType::kBF16},
        SceneOptions{.extents = {1, 9, 7, 10}, .partition = "1x3x1x1x1"},
        SceneOptions{.extents = {2, 8, 8, 8}, .partition = "1x2x1x1x1", .replicas = 2, .workers = 2},
        SceneOptions{.extents = {2, 8, 8, 8},
                     .partition = "2x1x2x1x1",
                     .config = {.base_filters = 4, .depth = 2, .norm = NormKind::kInstance}},
        SceneOptions{.extents = {1, 16, 8, 16},
                     .partition = "1x2x1x2x1",
                     .config = {.base_filters = 2, .depth = 4, .deep_supervision = true, .members = 2}},
        SceneOptions{.extents = {1, 16, 8, 8},
                     .partition = "1x8x1x1x1",
                     .workers = 2,
                     .recompute = Recompute::kLevels,
                     .thinnest_slab = 4},
        SceneOptions{
            .extents = {1, 8, 8, 16}, .partition = "1x2x1x2x1", .arenas = ArenaMode::kChecked, .guard_bytes = 64}));

TEST(Ranks, WithMoreThanCoresIdleOnesTrainToTheSameBytes) {
  const SceneOptions options{.partition = "1x2x1x1x1"};
  const RankOutcome one = train_as_rank(unet_scene(options), nullptr);
  for (const RankOutcome& rank : train_over(3, options)) expect_bytes_of_one(rank, one);
}

TEST(Ranks, DelayedMessagesChangeNothing) {
  const SceneOptions options{.extents = {1, 16, 8, 8}, .partition = "1x8x1x1x1", .workers = 2};
  const RankOutcome one = train_as_rank(unet_scene(options), nullptr);
  const auto slow = [](Letter& letter) { letter.held_up = static_cast<int>((letter.number * 7 + letter.from) % 23); };
  for (const RankOutcome& rank : train_over(3, options, slow)) expect_bytes_of_one(rank, one);
}

TEST(Ranks, AnErrorOfOneEndsAllWithItsKindCodeAndText) {
  const SceneOptions options{.partition = "1x2x2x1x1"};
  Mailbox mailbox(4);
  const auto errors = run_ranks(mailbox, [&](Transport& transport) {
    if (transport.rank() == 2) throw Error(ErrorKind::kInput, "E_NAN", "case_7 has no labels");
    train_as_rank(unet_scene(options), &transport);
  });
  for (int rank = 0; rank < 4; ++rank) {
    ASSERT_TRUE(errors[rank]) << rank;
    try {
      std::rethrow_exception(errors[rank]);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInput) << rank;
      EXPECT_STREQ(error.code(), "E_NAN") << rank;
      EXPECT_NE(std::string(error.what()).find(rank == 2 ? "case_7 has no labels" : "rank 2: case_7 has no labels"),
                std::string::npos)
          << error.what();
    }
  }
}

TEST(Ranks, AllNameTheLayerThatIsNotFiniteOnOneOfThem) {
  const SceneOptions options{.partition = "1x4x1x1x1"};
  Mailbox mailbox(3);
  const auto errors = run_ranks(mailbox, [&](Transport& transport) {
    UNetScene scene(options);
    Target target = scene_target(options);
    target.ranks = transport.place();
    Session session(
        op_table(),
        [&](const Shape& e, Phase) {
          return lower(scene_graph(options, e, true), op_table(), scene_cut(options), target);
        },
        scene.pool, &transport);
    session.parameters() = scene.session.parameters();
    store(scene.image.view(), 0, std::numeric_limits<double>::quiet_NaN());  // a voxel of core 0
    Trainer trainer(session, {}, session.plan(scene.extents, Phase::kTrain).program.graph, 1);
    trainer.step(scene.extents, scene.feed());
  });
  for (const auto& error : errors) {
    ASSERT_TRUE(error);
    try {
      std::rethrow_exception(error);
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::kDiverged);
      EXPECT_NE(std::string(e.what()).find("first at layer encoder0/conv0"), std::string::npos) << e.what();
    }
  }
}

}  // namespace
}  // namespace voxshard
