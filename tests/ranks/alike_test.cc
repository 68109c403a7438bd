// Ranks whose facts differ refuse to start.
#include "libcore/ranks/alike.h"

#include <gtest/gtest.h>

#include "tests/ranks/mailbox.h"

namespace voxshard {
namespace {

using namespace test;

/// Returns the error text of each rank; "" when it starts.
std::vector<std::string> said(int ranks, const std::function<Facts(int)>& facts) {
  Mailbox mailbox(ranks);
  std::vector<std::string> texts;
  for (const auto& error : run_ranks(mailbox, [&](Transport& t) { require_alike(t, facts(t.rank())); })) {
    try {
      if (error) std::rethrow_exception(error);
      texts.emplace_back();
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::kConfig);
      texts.emplace_back(e.what());
    }
  }
  return texts;
}

TEST(Alike, EqualFactsBegin) {
  for (const std::string& text : said(3, [](int) {
         return Facts{{"version", "0.1.0"}, {"option", "a:b\n"}, {"", ""}};
       }))
    EXPECT_EQ(text, "");
  EXPECT_EQ(said(1, [](int) { return Facts{{"version", "0.1.0"}}; })[0], "");
}

TEST(Alike, TheFactTheRankAndBothValuesAreNamedOnAll) {
  for (const std::string& text : said(4, [](int rank) {
         return Facts{{"version", "0.1.0"}, {"instruction set", rank == 2 ? "AVX2" : "AVX-512"}};
       }))
    EXPECT_NE(text.find("rank 2 differs from rank 0: there instruction set is AVX2, here instruction set is AVX-512"),
              std::string::npos)
        << text;
  for (const std::string& text : said(2, [](int rank) { return rank == 0 ? Facts{{"a", "1"}} : Facts{}; }))
    EXPECT_NE(text.find("there nothing more is said, here a is 1"), std::string::npos) << text;
}

}  // namespace
}  // namespace voxshard
