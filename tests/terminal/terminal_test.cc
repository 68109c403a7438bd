// The parts of the screen's output: the pace of a stage, a line that fits, words in the quotes that a shell needs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

#include <cstdio>

#include "apps/terminal/flags.h"
#include "apps/terminal/progress.h"
#include "apps/terminal/screen_line.h"
#include "apps/terminal/shell.h"

namespace voxshard {
namespace {

TEST(Pace, TheFirstPieceCountsForNothing) {
  Pace pace;
  pace.update(0, 0);
  EXPECT_FALSE(pace.seconds_each());
  pace.update(90, 1);
  EXPECT_FALSE(pace.seconds_each());
  pace.update(92, 2);
  EXPECT_EQ(pace.seconds_each(), 2);
  EXPECT_EQ(rate_text(pace, 12), "2.0 s each  20 s left");
  pace.update(94.5, 3);
  EXPECT_EQ(rate_text(pace, 3), "2.2 s each") << "nothing is left";
}

TEST(Pace, AResumedRunBeginsWhereItWas) {
  Pace pace;
  for (const auto& [seconds, done] : {std::pair{0.0, 120}, {30.0, 130}, {40.0, 140}}) pace.update(seconds, done);
  EXPECT_EQ(pace.seconds_each(), 1);
  EXPECT_EQ(rate_text(pace, 200), "1.0/s  1 min 00 s left");
}

TEST(WarningFold, TheFirstOfACodeIsShownAndTheOthersAreCounted) {
  WarningFold fold;
  EXPECT_TRUE(fold.shows("case a: W_MASK its values are whole numbers"));
  EXPECT_FALSE(fold.shows("case b: W_MASK its values are whole numbers"));
  EXPECT_TRUE(fold.shows("W_PEAK this process took 90 MiB"));
  EXPECT_FALSE(fold.shows("case c: W_MASK its values are whole numbers"));
  for (int i = 0; i < 2; ++i)
    EXPECT_TRUE(fold.shows("case d: E_UIDS, see W_UIDS [quarantined]")) << "an input was lost";
  for (const std::string one : {"a", "b"})
    EXPECT_TRUE(fold.shows("case " + one + ": W_OUTPUT sr is not written: no voxel has a class"))
        << "an output is missing";
  EXPECT_THAT(fold.summary(), testing::ElementsAre("W_MASK: 2 more warnings like it; {log} FILE keeps all of them"));
  EXPECT_TRUE(fold.summary().empty()) << "they are said once";
}

TEST(TerminalProgress, WarningsThatWereNotShownAreCountedAtTheEndOfEachBatch) {
  int ends[2];
  ASSERT_EQ(::openpty(&ends[0], &ends[1], nullptr, nullptr, nullptr), 0);
  const int stderr_before = ::dup(STDERR_FILENO);
  ::dup2(ends[1], STDERR_FILENO);
  {
    TerminalProgress progress({});
    for (int batch = 0; batch < 2; ++batch) {
      for (const char* line : {"case a: W_MASK whole numbers", "case b: W_MASK whole numbers"}) progress.warn(line);
      progress.batch_ended();
    }
  }
  ::dup2(stderr_before, STDERR_FILENO);
  ::close(stderr_before), ::close(ends[1]);
  std::string said;
  char part[1024];
  for (ssize_t bytes; (bytes = ::read(ends[0], part, sizeof part)) > 0;) said.append(part, static_cast<size_t>(bytes));
  ::close(ends[0]);
  const std::string batch =
      "case a: W_MASK whole numbers\r\nW_MASK: 1 more warning like it; --log FILE keeps all of them\r\n";
  EXPECT_EQ(said, batch + batch);
}

TEST(ScreenLine, FitsEveryTerminal) {
  const ProgressLine line{.stage = "fingerprint",
                          .done = 7,
                          .total = 120,
                          .rate = "12.5 s each  24 min 10 s left",
                          .text = "p\xC3\xA4tient_\xE6\xBC\xA2\xE5\xAD\x97_0001.nii.gz"};
  for (int columns = 1; columns <= 140; ++columns) {
    const std::string shown = screen_line(line, columns);
    EXPECT_LE(columns_of(shown), std::max(columns - 1, 1)) << shown;
    if (columns > 20) {
      EXPECT_THAT(shown, testing::HasSubstr("7/120"));
    }
  }
  EXPECT_THAT(screen_line(line, 140), testing::EndsWith(".nii.gz"));
  EXPECT_THAT(screen_line(line, 140), testing::HasSubstr("[=>                      ]"));
  EXPECT_THAT(screen_line(line, 80), testing::HasSubstr("24 min 10 s left")) << "the bar gives way first";
}

TEST(ScreenLine, WhatMovesTheCursorIsNotShown) {
  EXPECT_EQ(log_line({.stage = "predict", .done = 1, .total = 2, .rate = "", .text = "a\nb\033[2J"}),
            "predict 1/2  a?b?[2J");
  EXPECT_EQ(log_line({.stage = "predict", .done = 1, .total = 2, .rate = "", .text = "a\u009b\u202e\xff"}),
            "predict 1/2  a???");
}

TEST(ScreenLine, EastAsianLettersTakeTwoColumns) {
  EXPECT_EQ(columns_of("\xC3\xA4"), 1);
  EXPECT_EQ(columns_of("\xE6\xBC\xA2"), 2);
  EXPECT_EQ(cut_to("\xE6\xBC\xA2\xE6\xBC\xA2\xE6\xBC\xA2", 5), "\xE6\xBC\xA2...");
  EXPECT_EQ(cut_to("abcdef", 5), "ab...");
  EXPECT_EQ(cut_to("abcdef", 6), "abcdef");
}

TEST(ShellLine, AShellReadsTheSameWords) {
  const std::vector<std::string> words = {"plain", "two words", "it's",       "$HOME", "a\"b\\c", "",
                                          "*",     "~",         "--size=1,2", "#x",    "a;b&c|d"};
  FILE* pipe = ::popen(("printf '%s\\n' " + shell_line(words)).c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::string said, expected;
  for (int ch; (ch = std::fgetc(pipe)) != EOF;) said += static_cast<char>(ch);
  ::pclose(pipe);
  for (const std::string& word : words) expected += word + "\n";
  EXPECT_EQ(said, expected);
  EXPECT_EQ(shell_line({"prepare", "my data", "-o", "work"}), "prepare 'my data' -o work");
}

TEST(Flags, OnlyAWholeWordOfACommandIsOne) {
  const std::vector<std::string> words = with_flags(std::vector<std::string>{"{output}", "{fold}", "a {fold}"});
  EXPECT_EQ(words, (std::vector<std::string>{"-o", "--fold", "a {fold}"}));
}

}  // namespace
}  // namespace voxshard
