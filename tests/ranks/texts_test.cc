// Texts are gathered to rank 0 in the order of ranks, and broadcast from it.
#include "libcore/ranks/texts.h"

#include <gtest/gtest.h>

#include "tests/ranks/mailbox.h"

namespace voxshard {
namespace {

using namespace test;

TEST(Texts, RankZeroGetsThemByRankAndAllGetWhatItSays) {
  Mailbox mailbox(4);
  std::vector<std::vector<std::string>> gathered(4);
  std::vector<std::string> first(4);
  for (const auto& error : run_ranks(mailbox, [&](Transport& t) {
         const auto rank = static_cast<std::size_t>(t.rank());
         gathered[rank] = gather_texts(t, std::string(rank, 'a'));
         first[rank] = broadcast_text(t, t.rank() == 0 ? "plan" : "mine");
       }))
    EXPECT_FALSE(error);
  EXPECT_EQ(gathered[0], (std::vector<std::string>{"", "a", "aa", "aaa"}));
  for (int rank = 1; rank < 4; ++rank) EXPECT_TRUE(gathered[rank].empty());
  EXPECT_EQ(first, std::vector<std::string>(4, "plan"));
}

TEST(Texts, OneRankKeepsItsOwn) {
  InProcessTransport alone;
  EXPECT_EQ(gather_texts(alone, "a"), std::vector<std::string>{"a"});
  EXPECT_EQ(broadcast_text(alone, "a"), "a");
}

TEST(Texts, PackedOnesComeBackWhateverIsInThem) {
  const std::vector<std::string> texts = {"", "3:abc", std::string("\0\n:", 3), "12", ""};
  EXPECT_EQ(unpack_texts(pack_texts(texts)), texts);
  EXPECT_EQ(unpack_texts(""), std::vector<std::string>());
  for (const char* damaged : {"abc", ":", "4:abc", "-1:a", "1x:a", "99999999999999999999:a", "1:ab"})
    EXPECT_ANY_THROW(unpack_texts(damaged)) << damaged;
}

TEST(Texts, OneThatIsTooLongIsAnErrorOnBothSides) {
  Mailbox mailbox(2);
  for (const auto& error :
       run_ranks(mailbox, [&](Transport& t) { gather_texts(t, std::string(t.rank() == 1 ? 9 : 8, 'x'), 8); }))
    EXPECT_TRUE(error);
}

TEST(Texts, OneThatIsAnnouncedTooLongIsRefusedByItsRanksNameBeforeItIsAllocated) {
  for (const std::int64_t announced : {std::int64_t{-1}, std::int64_t{1} << 40}) {
    Mailbox mailbox(2);
    std::string said;
    run_ranks(mailbox, [&](Transport& t) {
      if (t.rank() == 1) return t.send(0, kTextTag, std::as_bytes(std::span(&announced, 1)));
      try {
        receive_text(t, 1);
      } catch (const Error& e) {
        said = e.what();
      }
    });
    EXPECT_NE(said.find("rank 1 sends a text of " + std::to_string(announced) + " bytes"), std::string::npos) << said;
  }
}

TEST(Texts, OneInSeveralPiecesComesWhole) {
  Mailbox mailbox(2);
  std::string long_text(40'000'000, 'x'), arrived;
  long_text[39'999'999] = 'y', long_text[20'000'000] = 'z';
  for (const auto& error : run_ranks(mailbox, [&](Transport& t) {
         if (t.rank() == 1)
           send_text(t, 0, long_text);
         else
           arrived = receive_text(t, 1);
       }))
    EXPECT_FALSE(error);
  EXPECT_TRUE(arrived == long_text);
}

}  // namespace
}  // namespace voxshard
