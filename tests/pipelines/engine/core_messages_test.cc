// Boxes of a sample reach the cores of all ranks, and the cores' results come back, whatever the boxes are.
#include "pipelines/engine/core_messages.h"

#include <gtest/gtest.h>

#include <mutex>

#include "tests/expect_error.h"
#include "tests/pipelines/rank_sessions.h"

namespace voxshard {
namespace {

using namespace test;

TEST(CoreMessages, PiecesTileTheirBoxAndAreSmallOrARow) {
  for (const Box& box : {Box{{0, 3, 5, 7, 0}, {1, 9, 4, 6, 2}}, Box{{2, 0, 0, 0, 0}, {3, 1, 1, 50, 1}},
                         Box{{0, 0, 0, 0, 0}, {1, 0, 4, 4, 1}}})
    for (const std::int64_t most : {1, 64, 100, 400, 100000}) {
      Tensor covered(DType::kI32, box.extent);
      const TensorView whole = dense_view(covered.data(), DType::kI32, box);
      for (const Box& piece : pieces_of(box, 4, most)) {
        EXPECT_TRUE(piece.count() * 4 <= most || piece.count() == piece.extent[4]) << to_string(piece);
        const TensorView part = whole.sub(piece);
        EXPECT_EQ(load(part, 0), 0) << "no voxel is sent twice";
        fill(part, 1);
      }
      for (std::int64_t i = 0; i < covered.count(); ++i) EXPECT_EQ(covered.as<std::int32_t>()[i], 1);
    }
}

TEST(CoreMessages, EveryRankGetsItsBoxesAndRank0AloneIsAsked) {
  for (const Dims& partition : {Dims{1, 2, 2, 1, 1}, Dims{1, 1, 5, 1, 1}, Dims{1, 3, 1, 2, 1}})
    for (const int ranks : {1, 2, 3, 4})
      over_ranks(ranks, small_unet(partition), [&](Session& session) {
        CoreSet& cores = session.cores({1, 8, 12, 20}, Phase::kPredict);
        const Program& program = cores.executable().program;
        const ValueId image = program.graph.find("image");
        feed_from_first(session, cores, image, [&](const TensorView& box) {
          EXPECT_EQ(session.transport().rank(), 0);
          fill_with_places(box);
        });
        const Ranks place = session.transport().place();
        for (std::int64_t core = place.first(program.mesh().cores()); core < place.end(program.mesh().cores());
             ++core) {
          const TensorView own = cores.owned(image, static_cast<std::size_t>(core));
          if (own.box.empty()) continue;
          Tensor expected(own.dtype, own.extent());
          fill_with_places(dense_view(expected.data(), own.dtype, own.box));
          EXPECT_TRUE(compare(own, dense_view(expected.data(), own.dtype, own.box)).bit_equal)
              << "core " << core << " of " << ranks << " ranks over " << to_string(partition);
        }
      });
}

TEST(CoreMessages, WhatACoreFoundComesToRank0Once) {
  for (const int ranks : {1, 2, 3, 4})
    over_ranks(ranks, small_unet({1, 1, 5, 1, 1}), [&](Session& session) {
      const CoreSet& cores = session.cores({1, 8, 12, 8}, Phase::kPredict);
      std::mutex mutex;
      std::map<std::size_t, std::size_t> taken;  // bytes by core
      const auto pack = [](std::size_t core) { return std::vector<std::byte>(core * 1000, std::byte(core)); };
      const auto take = [&](std::size_t core, std::span<const std::byte> bytes) {
        const std::lock_guard lock(mutex);
        EXPECT_TRUE(taken.emplace(core, bytes.size()).second);
        for (const std::byte b : bytes) ASSERT_EQ(b, std::byte(core));
      };
      const std::int64_t packed = gather_from_cores(session, cores, pack, take);
      const Ranks place = session.transport().place();
      std::int64_t own = 0;
      for (std::int64_t core = place.first(5); core < place.end(5); ++core) own += core * 1000;
      EXPECT_EQ(packed, place.rank == 0 ? 0 : own) << "rank 0 takes each at once";
      if (place.rank > 0) {
        EXPECT_TRUE(taken.empty());
        return;
      }
      ASSERT_EQ(taken.size(), 5u);
      for (const auto& [core, bytes] : taken) EXPECT_EQ(bytes, core * 1000);
    });
}

TEST(CoreMessages, ASizeThatNoCoreCanPackIsRefusedByItsRanksNameBeforeItIsAllocated) {
  for (const std::int64_t announced : {std::int64_t{-1}, std::int64_t{1} << 40}) {
    Mailbox mailbox(2);
    bool gathers = false;  // written and read by rank 1 alone
    mailbox.postman = [&](Letter& letter) {
      if (letter.from == 1 && gathers) letter.bytes = std::as_bytes(std::span(&announced, 1));
    };
    expect_error(ErrorKind::kInternal, "rank 1 sends " + std::to_string(announced) + " bytes that core ", [&] {
      over_ranks(mailbox, small_unet({1, 1, 5, 1, 1}), [&](Session& session) {
        const CoreSet& cores = session.cores({1, 8, 12, 8}, Phase::kPredict);
        if (session.transport().rank() == 1) gathers = true;
        gather_from_cores(
            session, cores, [](std::size_t) { return std::vector<std::byte>(); },
            [](std::size_t, std::span<const std::byte>) {});
      });
    });
  }
}

}  // namespace
}  // namespace voxshard
