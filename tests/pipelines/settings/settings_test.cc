// Rows and layers: a value of any type is parsed from text, the highest layer wins, and given values are kept.
#include "pipelines/settings/settings.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/pipelines/training_scene.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

enum class Colour { kRed, kGreen };

struct Rows {
  std::string text = "a";
  fs::path path;
  double real = 0.5;
  std::int64_t whole = 3;
  std::optional<std::int64_t> maybe;
  std::array<double, 2> pair = {1, 2};
  bool flag = false;
  std::uint64_t seed = 0;
  std::vector<std::int64_t> list;
  Colour colour = Colour::kRed;
  std::string seen;
  Settings settings;

  Rows() {
    settings.add({{"text", "", "", &text, {}, {"a", "b"}},
                  {"path", "", "", &path},
                  {"real", "", "", &real, NumberRange{0, 1}},
                  {"whole", "", "", &whole},
                  {"maybe", "", "", &maybe},
                  {"pair", "", "", &pair},
                  {"flag", "", "", &flag},
                  {"seed", "", "", &seed, kSeeds},
                  {"list", "", "", &list},
                  {"colour", "", "", named(colour, {"red", "green"}), {}, {"red", "green"}},
                  {"seen", "", "", [this](const std::string& word) { seen = word + "!"; }},
                  {.name = "once", .help = "", .value = &text, .of_one_call = true}});
  }
  void say(const std::string& name, const std::string& word) { settings.say(Layer::kCommandLine, name, {word}); }
};

TEST(Settings, WordsBecomeValuesOfEachType) {
  Rows s;
  for (const auto& [name, word] : std::map<std::string, std::string>{{"text", "b"},
                                                                     {"path", "x/y"},
                                                                     {"real", "1e-1"},
                                                                     {"whole", "0x10"},
                                                                     {"maybe", "-4"},
                                                                     {"pair", "0.25,8"},
                                                                     {"flag", "true"},
                                                                     {"seed", "9223372036854775808"},
                                                                     {"list", "3,4"},
                                                                     {"colour", "green"},
                                                                     {"seen", "hue"}})
    s.say(name, word);
  EXPECT_EQ(s.text, "b");
  EXPECT_EQ(s.path, "x/y");
  EXPECT_EQ(s.real, 0.1);
  EXPECT_EQ(s.whole, 16);
  EXPECT_EQ(s.maybe, -4);
  EXPECT_EQ(s.pair, (std::array{0.25, 8.0}));
  EXPECT_TRUE(s.flag);
  EXPECT_EQ(s.seed, std::uint64_t{1} << 63);
  EXPECT_EQ(s.list, (std::vector<std::int64_t>{3, 4}));
  EXPECT_EQ(s.colour, Colour::kGreen);
  EXPECT_EQ(s.seen, "hue!");
}

TEST(Settings, WhatARowDoesNotTakeIsRefusedByItsName) {
  Rows s;
  for (const auto& [name, word, piece] :
       std::vector<std::array<std::string, 3>>{{"real", "2", "{real}: 2 is not in 0 to 1"},
                                               {"real", "nan", "{real}: nan is not in 0 to 1"},
                                               {"text", "c", "{text}: c not in {a,b}"},
                                               {"whole", "3.5", "Could not convert: {whole} = 3.5"},
                                               {"pair", "1", "Could not convert: {pair} = 1"},
                                               {"list", "1,b", "Could not convert: {list} = 1,b"},
                                               {"seed", "-1", "{seed}: -1 is not in 0 to 9"}})
    expect_error(ErrorKind::kUsage, piece, [&, name = name, word = word] { s.say(name, word); });
  EXPECT_FALSE(s.settings.is_said("real"));
}

TEST(Settings, TheHighestLayerWinsWhicheverSpeaksFirst) {
  constexpr std::array kLayers = {Layer::kModel, Layer::kRecipe, Layer::kRun, Layer::kConfig, Layer::kCommandLine};
  for (const Layer first : kLayers)
    for (const Layer second : kLayers) {
      Rows s;
      EXPECT_TRUE(s.settings.say(first, "whole", {"1"}));
      EXPECT_EQ(s.settings.say(second, {"whole", std::int64_t{2}, "a reason"}), second >= first);
      EXPECT_EQ(s.whole, second >= first ? 2 : 1);
      EXPECT_EQ(s.settings.layer("whole"), std::max(first, second));
    }
  Rows s;
  EXPECT_EQ(s.settings.layer("whole"), Layer::kDefault);
  s.say("whole", "7");
  s.settings.withdraw("whole");
  EXPECT_EQ(s.whole, 3) << "as before anybody said one";
  s.whole = 4, s.say("whole", "7");
  s.settings.withdraw("whole");
  EXPECT_EQ(s.whole, 4) << "what is not said may follow another setting, as a field of a model does";
  EXPECT_FALSE(s.settings.is_said("whole"));
}

TEST(Settings, AChosenNumberIsSetAsItIsAndShownAsPeopleReadIt) {
  Rows s;
  s.settings.say(Layer::kRecipe, {"real", 1.0 / 3, "a third", "0.333"});
  EXPECT_EQ(s.real, 1.0 / 3);
  EXPECT_EQ(s.settings.given().at("real"), std::vector<std::string>{"0.333"});
}

TEST(Settings, ARunKeepsWhatHoldsFromAnyFolder) {
  Rows s;
  s.say("path", "x"), s.say("once", "b"), s.say("real", "1"), s.say("list", "5,6");
  s.settings.came_from_config({"real"});
  const GivenOptions given = s.settings.given();
  EXPECT_EQ(given.at("path").front(), (fs::current_path() / "x").string());
  EXPECT_FALSE(given.contains("once"));
  EXPECT_EQ(s.settings.layers(),
            (nlohmann::ordered_json{{"path", "command line"}, {"real", "config"}, {"list", "command line"}}));
}

TEST(Settings, TasksShareAValueEachWithHelpOfItsOwn) {
  struct Own {
    double value = 0;
    std::string word;
  } mine, theirs;
  TaskOptions options;
  Settings settings;
  settings.add({"share", "Share of mine", "", &mine.value}, "one", options);
  settings.add({"share", "Share of theirs", "",
                [&](const std::string& text) {
                  if (text == "7") throw Error(ErrorKind::kUsage, "seven");
                  theirs.word = text;
                }},
               "two", options);
  EXPECT_EQ(settings.find("share")->help(), "one: Share of mine; two: Share of theirs");
  settings.say(Layer::kCommandLine, "share", {"0.5"});
  EXPECT_EQ(mine.value, 0.5);
  EXPECT_EQ(theirs.word, "0.5");
  settings.say(Layer::kCommandLine, "share", {"7"});
  ASSERT_EQ(options.given.size(), 1u);
  EXPECT_EQ(options.given[0].tasks, (std::vector<std::string>{"one", "two"}));
  ASSERT_EQ(options.refused.size(), 1u);
  EXPECT_EQ(options.refused[0].task, "two");
}

}  // namespace
}  // namespace voxshard
