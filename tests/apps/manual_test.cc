// Manual pages and the completion for bash, of a program that only these tests have.
#include <gmock/gmock.h>

#include <CLI/CLI.hpp>

#include "apps/manual/bash_completion.h"
#include "apps/manual/manual_page.h"
#include "apps/manual/option_facts.h"
#include "apps/manual/roff.h"
#include "libcore/base/error.h"
#include "tests/expect_error.h"

namespace voxshard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

/// A program "toy" with the command "pack".
struct ToyProgram {
  ToyProgram() {
    root.name("toy");
    root.footer("Example: toy pack work");
    pack = root.add_subcommand("pack", "Packs NIfTI files. It's quick.");
    pack->add_option("work", text, "A folder such as .hidden")->required();
    pack->add_option("--to", text, "What it becomes")->check(CLI::IsMember({"folder", "tar-file"}));
    pack->add_option("--level", number, "From 1-9, as \\n in C.")->check(CLI::Range(1, 9))->default_str("3");
    pack->add_option("-o,--output", text, "Where it goes")->type_name("PATH")->group("Outputs (all)");
    pack->add_flag("--dry", dry, "Writes nothing")->excludes("--level");
    pack->footer("Example:\n  toy pack work -o out\n  toy pack more --dry");
  }

  CLI::App root{"Toys with files. No network.", "toy"};
  CLI::App* pack = nullptr;
  std::string text;
  int number = 0;
  bool dry = false;
};

const ManualFacts kFacts{.version = "1.2.3",
                         .date = "2026-01-02",
                         .exit_codes = {{"9", "something differs"}},
                         .environment = {{"TOY_SIZE", "Its size."}}};

TEST(Roff, TextIsPrintedAsItStands) {
  EXPECT_EQ(roff_text("a\\b  it's `c` ~^ \"q\""), "a\\eb  it\\(aqs \\(gac\\(ga \\(ti\\(ha \\(dqq\\(dq");
  EXPECT_EQ(roff_text("cut-down 1-3"), "cut-down 1-3");
  EXPECT_EQ(roff_text("(--dry-run) [-o imagesTr/a-b"), "(\\-\\-dry\\-run) [\\-o imagesTr/a\\-b");
}

TEST(Roff, NoLineOfAParagraphIsARequest) {
  EXPECT_EQ(roff_paragraph(" .hidden\n files "), "\\&.hidden files\n");
  const std::string text = roff_paragraph(std::string(78, 'x') + " .so y " + std::string(90, 'z') + " end");
  EXPECT_EQ(text, std::string(78, 'x') + "\n\\&.so y\n" + std::string(90, 'z') + "\nend\n");
  EXPECT_EQ(roff_paragraph(""), "");
}

TEST(OptionFacts, AreThoseOfTheParser) {
  const ToyProgram toy;
  const OptionFacts to = option_facts(*toy.pack->get_option("--to")),
                    dry = option_facts(*toy.pack->get_option("--dry")),
                    level = option_facts(*toy.pack->get_option("--level"));
  EXPECT_THAT(to.choices, ElementsAre("folder", "tar-file"));
  EXPECT_EQ(to.range, "");
  EXPECT_TRUE(dry.is_flag());
  EXPECT_THAT(dry.excludes, ElementsAre("--level"));
  EXPECT_TRUE(level.is_number());
  EXPECT_EQ(level.range, "1 to 9");
  EXPECT_EQ(level.usual, "3");
  EXPECT_THAT(level.choices, ElementsAre());
  EXPECT_THAT(option_facts(*toy.pack->get_option("--output")).names, ElementsAre("-o", "--output"));
}

TEST(ManualPage, OfACommandSaysWhatEachOptionMeansAndTakes) {
  const ToyProgram toy;
  const std::string page = command_page(*toy.pack, toy.root, kFacts);
  for (const char* piece :
       {".TH TOY-PACK 1 2026-01-02 \"toy 1.2.3\" \"User Commands\"\n", "toy-pack \\- packs NIfTI files\n",
        "\\fBtoy pack\\fR [\\fIOPTIONS\\fR] \\fIWORK\\fR\n", "\\fBWORK\\fR\nA folder such as .hidden.\n",
        "\\fB\\-\\-to\\fR \\fITEXT\\fR\nWhat it becomes. One of folder, tar-file.\n",
        "From 1-9, as \\en in C. Range: 1 to 9. Default: 3.", ".SS Outputs (all)\n",
        "\\fB\\-o\\fR, \\fB\\-\\-output\\fR \\fIPATH\\fR\n", "\\fB\\-\\-dry\\fR\nWrites nothing.",
        ".SH EXIT STATUS\n.TP\n\\fB9\\fR\nsomething differs\n", "\\fBTOY_SIZE\\fR\nIts size.\n",
        ".EX\ntoy pack work \\-o out\ntoy pack more \\-\\-dry\n.EE\n", "\\fBtoy\\fR(1)\n"})
    EXPECT_THAT(page, HasSubstr(piece));
}

TEST(ManualPage, OfTheProgramNamesItsCommands) {
  const ToyProgram toy;
  const std::string page = program_page(toy.root, kFacts);
  for (const char* piece : {".TH TOY 1 ", "toy \\- toys with files\n", "\\fBpack\\fR\nPacks NIfTI files.",
                            "toy pack work\n", "\\fBtoy-pack\\fR(1)"})
    EXPECT_THAT(page, HasSubstr(piece));
  EXPECT_THAT(page, Not(HasSubstr("\n\n")));
}

TEST(BashCompletion, OnlyPlainWordsReachTheShell) {
  const ToyProgram toy;
  EXPECT_THAT(bash_completion(toy.root, {.version = "1", .arguments = {{"pack", {"more", "less"}}}}),
              HasSubstr("arguments='more less'"));
  for (const char* word : {"$(date)", "a b", "it's", ""})
    expect_error(ErrorKind::kInternal, "plain", [&] {
      bash_completion(toy.root, {.version = "1", .arguments = {{"pack", {word}}}});
    });
}

}  // namespace
}  // namespace voxshard
