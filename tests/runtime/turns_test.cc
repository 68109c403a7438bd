// Cores that take turns in memory give the bits of cores that all stay there, on every grid, with any number of
// workers and over any number of ranks.
#include "libcore/memory/turns.h"

#include <sys/mman.h>

#include <atomic>

#include "libcore/runtime/worker_loop.h"
#include "tests/ranks/mailbox.h"
#include "tests/runtime/mapped_file.h"
#include "tests/runtime/unet_scene.h"

namespace voxshard {
namespace {

using namespace test;

TEST(ArenaInAFile, LeavesMemoryAndComesBackAsItWas) {
  constexpr std::int64_t kBytes = 1 << 20, kBegin = 1 << 16;
  const MappedFile file(kBegin + kBytes);
  const Arena arena(kBytes, FileRange{.descriptor = file.descriptor(), .begin = kBegin});
  std::byte* const data = arena.at(0, kBytes);
  for (std::int64_t i = 0; i < kBytes; ++i) data[i] = static_cast<std::byte>(i % 251);
  EXPECT_EQ(resident_of(data), kBytes);
  arena.evict();
  EXPECT_EQ(resident_of(data), 0);
  for (std::int64_t i = 0; i < kBytes; ++i) ASSERT_EQ(data[i], static_cast<std::byte>(i % 251)) << i;
}

TEST(ArenaInAFile, ComesBackInOneCallAsItWas) {
  constexpr std::int64_t kBytes = 1 << 20, kPage = 1 << 16;  // the largest page of a machine that we know
  const MappedFile file(kBytes);
  const Arena arena(kBytes, FileRange{.descriptor = file.descriptor()});
  std::byte* const data = arena.at(0, kBytes);
  if (::madvise(data, kBytes, MADV_POPULATE_READ) != 0) GTEST_SKIP() << "the kernel is older than Linux 5.14";
  for (std::int64_t i = 0; i < kBytes; ++i) data[i] = static_cast<std::byte>(i % 251);
  for (const bool written : {false, true}) {
    arena.evict();
    arena.bring_in(data + 5, kBytes - 10, written);
    EXPECT_GE(resident_of(data), kBytes - 2 * kPage) << "but the pages at its ends, which are not whole";
    for (std::int64_t i = 0; i < kBytes; ++i) ASSERT_EQ(data[i], static_cast<std::byte>(i % 251)) << i;
  }
  arena.evict();
  std::vector<std::byte> foreign(kBytes, std::byte{3});
  arena.bring_in(foreign.data(), kBytes, true);  // of no arena
  EXPECT_EQ(resident_of(data), 0);
}

TEST(ArenaInAFile, AnArenaInMemoryStaysThere) {
  const Arena arena(1 << 20);
  std::byte* const data = arena.at(0, 1 << 20);
  data[5] = std::byte{7};
  arena.evict();
  EXPECT_EQ(data[5], std::byte{7});
}

TEST(Turns, InASegmentNoMoreCoresAreAtWorkThanWorkers) {
  for (const int workers : {1, 2, 3}) {
    WorkerPool pool(workers);
    Segment segment(7);
    for (std::size_t core = 0; core < segment.size(); ++core)
      for (std::size_t stage = 0; stage < core % 3; ++stage) {
        segment[core].push_back({.instruction = stage});
        segment[core].back().calls.resize(1 + (core + stage) % 4);
      }
    std::vector<std::atomic<int>> begun(segment.size()), ended(segment.size());
    std::atomic<int> most = 0;
    run_segment(
        pool, segment, 0,
        [&](std::int64_t core, const Stage&, std::size_t, int) {
          begun[core] = 1;
          int at_work = 0;
          for (std::size_t c = 0; c < segment.size(); ++c) at_work += begun[c] > ended[c];
          for (int seen = most; seen < at_work && !most.compare_exchange_weak(seen, at_work);) {
          }
        },
        {}, nullptr, [&](std::int64_t core) { ++ended[core]; });
    EXPECT_LE(most, workers);
    for (std::size_t core = 0; core < segment.size(); ++core) EXPECT_EQ(ended[core], segment[core].empty() ? 0 : 1);
  }
}

struct Bits {
  Tensor logits;  // of the cores of this rank; the rest is zero
  Footprint planned;
};

///   transport  to the other ranks; null: there are none
Bits predicted(const SceneOptions& options, bool turns, Transport* transport = nullptr) {
  UNetScene scene(options);
  std::optional<MappedFile> file;
  Session session(
      op_table(),
      [&](const Shape& extents, Phase) {
        Target target = scene_target(options);
        target.takes_turns = turns;
        if (transport != nullptr) target.ranks = transport->place();
        return lower(scene_graph(options, extents, false), op_table(), scene_cut(options), target);
      },
      scene.pool, transport);
  session.parameters() = scene.session.parameters();
  session.set_scratch([&](std::int64_t bytes) { return file.emplace(bytes).descriptor(); });
  Bits bits{.logits = {}, .planned = session.plan(scene.extents, Phase::kPredict).bytes};
  for (int again = 0; again < 2; ++again) {  // the second run finds what the first left in the file
    CoreSet& cores = session.cores(scene.extents, Phase::kPredict);
    feed_all(cores, scene.feed());
    cores.run();
    bits.logits = cores.gather(cores.executable().program.graph.outputs.at("logits"));
  }
  return bits;
}

class AnyTurns : public testing::TestWithParam<std::tuple<std::string, DType, NormKind>> {};

TEST_P(AnyTurns, GiveTheBitsOfCoresThatStayInMemory) {
  const auto& [partition, dtype, norm] = GetParam();
  for (const int workers : {1, 2}) {
    const SceneOptions options{.extents = {1, 13, 12, 16},
                               .partition = partition,
                               .dtype = dtype,
                               .config = {.base_filters = 4, .depth = 3, .norm = norm},
                               .workers = workers};
    const Bits stay = predicted(options, false), turn = predicted(options, true);
    EXPECT_TRUE(turn.planned.takes_turns());
    EXPECT_GE(turn.planned.turns.file_bytes, stay.planned.all_arenas());
    EXPECT_LE(turn.planned.process(), stay.planned.process());
    ASSERT_EQ(turn.logits.bytes(), stay.logits.bytes());
    EXPECT_EQ(std::memcmp(turn.logits.data(), stay.logits.data(), static_cast<std::size_t>(stay.logits.bytes())), 0)
        << workers << " workers, seed " << options.seed;
  }
}

TEST_P(AnyTurns, OverRanksGiveTheBitsOfOneProcess) {
  const auto& [partition, dtype, norm] = GetParam();
  const SceneOptions options{.extents = {1, 13, 12, 16},
                             .partition = partition,
                             .dtype = dtype,
                             .config = {.base_filters = 4, .depth = 3, .norm = norm},
                             .workers = 2};
  const Bits one = predicted(options, true);
  for (const int ranks : {2, 3}) {
    Mailbox mailbox(ranks);
    std::vector<Bits> all(static_cast<std::size_t>(ranks));
    run_valid_ranks(mailbox,
                    [&](Transport& transport) { all[transport.rank()] = predicted(options, true, &transport); });
    std::int64_t file_bytes = 0;
    Tensor logits(one.logits.dtype(), one.logits.shape());
    for (const Bits& rank : all) {
      EXPECT_LE(rank.planned.turns.resident_bytes, one.planned.turns.resident_bytes);
      file_bytes += rank.planned.turns.file_bytes;
      for (std::int64_t i = 0; i < logits.bytes(); ++i) logits.data()[i] |= rank.logits.data()[i];
    }
    EXPECT_EQ(file_bytes, one.planned.turns.file_bytes) << "no arena lies in two files";
    EXPECT_EQ(std::memcmp(logits.data(), one.logits.data(), static_cast<std::size_t>(logits.bytes())), 0)
        << ranks << " ranks, seed " << options.seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Grids, AnyTurns,
                         testing::Combine(testing::Values("1x1x1x1x1", "1x4x1x1x1", "1x3x2x1x1", "1x2x2x4x1"),
                                          testing::Values(DType::kF32, DType::kBF16),
                                          testing::Values(NormKind::kInstance, NormKind::kBatch)));

TEST(Turns, TheFileHoldsAllArenasAndMemoryThoseOfTheWorkers) {
  const SceneOptions options{.extents = {1, 32, 16, 16}, .partition = "1x8x1x1x1"};
  const Lowered lowered = scene_lowered(options, false);
  std::int64_t file = 0, largest = 0;
  for (const Pool& arena : lowered.memory.arenas) {
    file += (arena.bytes + 65535) / 65536 * 65536;
    largest = std::max(largest, arena.bytes);
  }
  const auto turns = [&](int workers) { return turns_of(lowered.program, lowered.memory, workers, {0, 8}); };
  const Turns one = turns(1), two = turns(2);
  EXPECT_EQ(one.file_bytes, file);
  EXPECT_EQ(two.file_bytes, file);
  EXPECT_GE(one.resident_bytes, largest);
  EXPECT_GE(two.resident_bytes, one.resident_bytes);
  EXPECT_LE(two.resident_bytes, 2 * one.resident_bytes);
  EXPECT_LT(two.resident_bytes, lowered.bytes.all_arenas());
}

}  // namespace
}  // namespace voxshard
