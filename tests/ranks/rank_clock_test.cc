// The clocks of ranks begin at different times; events of a rank are converted to the time of rank 0.
#include "libcore/ranks/rank_clock.h"

#include <gtest/gtest.h>

#include <cmath>

#include "libcore/base/stopwatch.h"
#include "tests/ranks/mailbox.h"

namespace voxshard {
namespace {

using namespace test;

TEST(RankClock, IsSetByHalfOfTheQuickestRoundTripAtMost) {
  const Stopwatch truth;
  Mailbox mailbox(3);
  std::vector<ClockOffset> ahead(3);
  run_valid_ranks(mailbox, [&](Transport& t) {
    const int rank = t.rank();
    ahead[rank] = offset_to_first(t, [&] { return truth.seconds() + 1000.0 * rank; });  // rank 1 is 1000 s ahead
  });
  EXPECT_EQ(ahead[0].seconds, 0);
  EXPECT_EQ(ahead[0].round_trip_s, 0);
  for (int rank : {1, 2}) {
    const ClockOffset& offset = ahead[rank];
    EXPECT_GT(offset.round_trip_s, 0);
    EXPECT_LE(std::abs(offset.seconds + 1000.0 * rank), offset.round_trip_s / 2 + 1e-9);
  }
}

TEST(RankClock, OneRankHasTheTime) {
  InProcessTransport alone;
  EXPECT_EQ(offset_to_first(alone, [] { return 7.0; }).seconds, 0);
}

}  // namespace
}  // namespace voxshard
