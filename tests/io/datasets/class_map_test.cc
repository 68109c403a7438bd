// Which class a structure's name means, and which maps are refused.
#include "io/datasets/class_map.h"

#include "tests/io/test_files.h"

namespace voxshard {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

class ClassMapTest : public testing::Test {
 protected:
  ClassMap read(const std::string& text, const char* name = "map.toml") const {
    write_bytes(scratch_ / name, text);
    return read_class_map(scratch_ / name);
  }
  void expect_refused(const std::string& text, const std::string& piece) const {
    expect_error(ErrorKind::kConfig, piece, [&] { read(text); });
  }
  ScratchFolder scratch_{"class_map"};
};

constexpr const char* kMap = R"(
[[class]]
name = "parotid_left"
aliases = ["Parotis li.", "PAR L"]
patterns = ["*parotid*l*"]
[[class]]
name = "parotid_right"
patterns = ["*parotid*", "glandula ?"]
[[class]]
name = "Ösophagus"
)";

TEST_F(ClassMapTest, ClassesAreNumberedInTheirOrder) {
  EXPECT_THAT(label_names(read(kMap)), ElementsAre("background", "parotid_left", "parotid_right", "Ösophagus"));
}

TEST_F(ClassMapTest, CaseSpacesAndUnderscoresDoNotCount) {
  const ClassMap map = read(kMap);
  for (const char* name : {"parotid_left", "Parotid Left", "PAROTID__LEFT", " parotid \tleft_ "})
    EXPECT_EQ(class_of(map, name), 1) << name;
  EXPECT_EQ(class_of(map, "parotis_LI."), 1);
  EXPECT_EQ(class_of(map, "ösophagus"), 3) << "letters beyond ASCII too";
  EXPECT_EQ(class_of(map, "ÖSOPHAGUS"), 3);
  EXPECT_EQ(class_of(map, "Oesophagus"), std::nullopt);
  EXPECT_EQ(class_of(map, "parotidleft"), 1) << "by a pattern";
  EXPECT_EQ(class_of(map, ""), std::nullopt);
}

TEST_F(ClassMapTest, ANameGoesBeforeAnAliasAndAnAliasBeforeAPatternAndThenTheOrderCounts) {
  const ClassMap map = read(kMap);
  EXPECT_EQ(class_of(map, "parotid right"), 2) << "the name, although the pattern of the first class fits";
  EXPECT_EQ(class_of(map, "parotid gland"), 1) << "both patterns fit";
  EXPECT_EQ(class_of(map, "parotid"), 2);
  EXPECT_EQ(class_of(map, "par_l"), 1);
}

TEST_F(ClassMapTest, AStarStandsForAnyTextAndAQuestionMarkForOneCharacter) {
  const ClassMap map = read("[[class]]\nname = \"a\"\npatterns = [\"x*y*z\", \"d?e\", \"**\\u00df\"]\n");
  for (const char* name : {"xyz", "x y z", "xyyzz z", "d-e", "döe", "Straß", "ß"})
    EXPECT_EQ(class_of(map, name), 1) << name;
  for (const char* name : {"xzy", "xyzz!", "de", "döee", "ßs"}) EXPECT_EQ(class_of(map, name), std::nullopt) << name;
  const ClassMap stars = read("[[class]]\nname = \"a\"\npatterns = [\"*a*a*a*a*a*a*a*a*a*a*a*b\"]\n");
  EXPECT_EQ(class_of(stars, std::string(1000, 'a')), std::nullopt) << "in time that does not grow with the stars";
}

TEST_F(ClassMapTest, JsonAndYamlAreReadToo) {
  EXPECT_EQ(read(R"({"class": [{"name": "liver", "aliases": ["Leber"]}]})", "map.json").classes[0].aliases[0], "Leber");
  EXPECT_EQ(read("class:\n  - name: liver\n", "map.yaml").classes[0].name, "liver");
}

TEST_F(ClassMapTest, TwoClassesThatClaimOneNameAreRefused) {
  expect_refused("[[class]]\nname = \"a\"\naliases = [\"Le ber\"]\n[[class]]\nname = \"le_BER\"\n",
                 "\"le_BER\" to two classes, a and le_BER");
  expect_refused("[[class]]\nname = \"a\"\npatterns = [\"b*\"]\n[[class]]\nname = \"c\"\npatterns = [\"B*\"]\n",
                 "\"B*\" to two classes, a and c");
  EXPECT_NO_THROW(read("[[class]]\nname = \"a\"\naliases = [\"A\", \"b\", \"B\"]\n")) << "one class may repeat itself";
}

TEST_F(ClassMapTest, MapsThatAreNoneAreRefused) {
  expect_refused("", "no map of classes");
  expect_refused("classes = [\"a\"]\n", "no map of classes");
  expect_refused("class = []\n", "no map of classes");
  expect_refused("[[class]]\naliases = [\"a\"]\n", "class 1 has no name");
  expect_refused("[[class]]\nname = \"a\"\nalias = [\"b\"]\n", "unknown key \"alias\"");
  expect_refused("[[class]]\nname = \"a\"\naliases = \"b\"\n", "no list of at most");
  expect_refused("[[class]]\nname = \"_ _\"\n", "no plain text");
  expect_refused("[[class]]\nname = \"a\\u001b[2J\"\n", "no plain text");
  expect_refused("[[class]]\nname = \"" + std::string(257, 'a') + "\"\n", "1 to 256 bytes");
  expect_refused("[[class]]\nname = \"Background\"\n", "called background");
  expect_refused("[[class]]\nname = \"liver\"\n[[class]]\nname = \"IGNORE\"\n", "class 2 is called ignore");
  std::string many;
  for (std::size_t i = 0; i <= kMostMappedClasses; ++i) many += "[[class]]\nname = \"a" + std::to_string(i) + "\"\n";
  expect_refused(many, "1 to 1024 tables");
}

TEST_F(ClassMapTest, UnmatchedStructuresAreListedOnceWithTheirCases) {
  UnmatchedStructures all, part;
  EXPECT_EQ(all.text(), "");
  all.add({"PTV", "PTV", "Couch"});
  part.add({"PTV"});
  all.add(part);
  EXPECT_THAT(all.cases(), ElementsAre(Pair("Couch", 1), Pair("PTV", 2)));
  EXPECT_EQ(all.text(),
            "W_UNMATCHED 2 structures belong to no class of the map and are left out: PTV (2 cases), Couch (1 case)");
  std::vector<std::string> names;
  for (std::size_t i = 0; i < UnmatchedStructures::kMostNames + 5; ++i) names.push_back("s" + std::to_string(i));
  all.add(names);
  EXPECT_EQ(all.cases().size(), UnmatchedStructures::kMostNames);
  EXPECT_THAT(all.text(), HasSubstr("more than 10000 structures"));
}

}  // namespace
}  // namespace voxshard
