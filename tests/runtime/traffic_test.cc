// The messages of a rank that the program states for an instruction are those found in the mailboxes, to the byte.
#include <map>

#include "tests/rank_program/scenes.h"
#include "tests/ranks/mailbox.h"

namespace voxshard {
namespace {

using namespace test;

class Traffics : public testing::TestWithParam<std::string> {};

TEST_P(Traffics, EveryExchangeAndAllReduceSendsWhatTheProgramSays) {
  const RankScene& scene = rank_scenes().at(GetParam());
  for (int ranks : {2, 3}) {
    Mailbox mailbox(ranks);
    std::map<std::pair<int, int>, Traffic> posted;  // by rank and tag, as the postman counts
    mailbox.postman = [&](const Letter& letter) {
      Traffic& sum = posted[{letter.from, letter.tag}];
      ++sum.messages;
      sum.bytes += static_cast<std::int64_t>(letter.bytes.size());
    };
    std::vector<RankOutcome> outcomes(static_cast<std::size_t>(ranks));
    run_valid_ranks(mailbox, [&](Transport& t) { outcomes[t.rank()] = train_as_rank(scene, &t, 1); });
    for (int rank = 0; rank < ranks; ++rank) {
      const RankOutcome& outcome = outcomes[rank];
      ASSERT_LT(outcome.planned.size(), static_cast<std::size_t>(kMessageTags))
          << "each instruction has a tag of its own";
      Traffic all;
      for (std::size_t i = 0; i < outcome.planned.size(); ++i) {
        EXPECT_EQ((posted[{rank, message_tag(i)}]), outcome.planned[i]) << "rank " << rank << ", instruction " << i;
        EXPECT_EQ(outcome.sent[i], outcome.planned[i]);
        all.messages += outcome.planned[i].messages;
      }
      EXPECT_GT(all.messages, 10);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Scenes, Traffics, testing::ValuesIn(rank_scene_names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace voxshard
