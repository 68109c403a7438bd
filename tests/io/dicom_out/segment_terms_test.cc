// Coded terms of classes by their names, a table of the user's, and UIDs that are made of a text.
#include "io/dicom_out/segment_terms.h"

#include "io/dicom_out/derived_uid.h"
#include "tests/io/test_files.h"

namespace voxshard {
namespace {

TEST(SegmentTermsTest, FindsNamesInTheirUsualSpellings) {
  const SegmentTerms& terms = SegmentTerms::builtin();
  EXPECT_EQ(terms.of("liver").type, (CodedTerm{"10200004", "SCT", "Liver"}));
  EXPECT_EQ(terms.of("Liver").category, (CodedTerm{"123037004", "SCT", "Anatomical Structure"}));
  for (const char* name : {"kidney_left", "left kidney", "Kidney-L", "LeftKidney", "l_kidney"}) {
    EXPECT_EQ(terms.of(name).type.code, "64033007") << name;
    ASSERT_TRUE(terms.of(name).side) << name;
    EXPECT_EQ(terms.of(name).side->meaning, "Left") << name;
  }
  EXPECT_EQ(terms.of("RightParotid").side->code, "24028007");
  EXPECT_FALSE(terms.of("spinal_cord").side);
  EXPECT_EQ(terms.of("SpinalCord").type.code, "2748008");
}

TEST(SegmentTermsTest, HasBonesEachVertebraAndTumours) {
  const SegmentTerms& terms = SegmentTerms::builtin();
  const std::pair<const char*, const char*> codes[] = {
      {"spine", "421060004"},       {"vertebrae", "51282000"},    {"vertebra_C1", "14806007"},
      {"vertebrae_L1", "66794005"}, {"VertebraeT12", "23215003"}, {"L5 vertebra", "49668003"},
      {"sacrum", "54735007"},       {"hip_left", "29836001"},     {"sternum", "56873002"},
      {"ribs", "113197003"},        {"femur_right", "71341001"},  {"Tumour", "108369006"},
      {"tumor", "108369006"},       {"neoplasms", "108369006"}};
  for (const auto& [name, code] : codes) EXPECT_EQ(terms.of(name).type.code, code) << name;
  EXPECT_FALSE(terms.of("vertebrae_L1").side) << "its L is no left side";
  EXPECT_EQ(terms.of("hip_left").side->meaning, "Left");
  EXPECT_EQ(terms.of("tumour").category, terms.of("lesion").category);
  EXPECT_NE(terms.of("tumour").category, terms.of("sternum").category);
}

TEST(SegmentTermsTest, WithoutARowTheTermIsGeneric) {
  const SegmentTerm term = SegmentTerms::builtin().of("flux capacitor");
  EXPECT_TRUE(term.generic);
  EXPECT_EQ(term.type.meaning, "Tissue");
  EXPECT_FALSE(SegmentTerms::builtin().of("lesion").generic);
}

TEST(SegmentTermsTest, RowsOfAFileComeBeforeThoseOfTheProgram) {
  const ScratchFolder dir("terms");
  write_bytes(dir / "mine.toml",
              "[[terms]]\nnames = [\"liver\"]\nscheme = \"99MINE\"\ncode = \"L1\"\nmeaning = \"My liver\"\n"
              "[[terms]]\nnames = [\"kidney left\"]\nwhole = true\ncode = \"18639004\"\nmeaning = \"Left kidney\"\n");
  const SegmentTerms terms = SegmentTerms::with_file(dir / "mine.toml");
  EXPECT_EQ(terms.of("Liver").type, (CodedTerm{"L1", "99MINE", "My liver"}));
  EXPECT_EQ(terms.of("kidney_left").type.code, "18639004");
  EXPECT_FALSE(terms.of("kidney_left").side) << "the row is that of the whole name";
  EXPECT_EQ(terms.of("kidney_right").type.code, "64033007");
  EXPECT_NE(terms.hash(), SegmentTerms::builtin().hash());
}

TEST(SegmentTermsTest, MalformedRowsAreRefusedByTheirNumber) {
  const ScratchFolder dir("terms_bad");
  const auto refused = [&](const std::string& text, const std::string& why) {
    write_bytes(dir / "bad.toml", text);
    expect_error(ErrorKind::kConfig, why, [&] { SegmentTerms::with_file(dir / "bad.toml"); });
  };
  refused("[[terms]]\nnames = [\"a\"]\nmeaning = \"A\"\n", "term 1 lacks code");
  refused("[[terms]]\nnames = [\"a\"]\ncode = \"12345678901234567\"\nmeaning = \"A\"\n", "1 to 16");
  refused("[[terms]]\nnames = [\"a\"]\ncode = \"1\\\\2\"\nmeaning = \"A\"\n", "without backslashes");
  refused("[[terms]]\nnames = \"a\"\ncode = \"1\"\nmeaning = \"A\"\n", "lacks names");
  refused("[[terms]]\nnames = [\"a\"]\ncategory = \"none\"\ncode = \"1\"\nmeaning = \"A\"\n", "category");
  refused("terms = 3\n", "no list");
  expect_error(ErrorKind::kConfig, "missing.toml", [&] { SegmentTerms::with_file(dir / "missing.toml"); });
}

TEST(DerivedUid, IsTheSameForTheSameTextAndAUuidInDecimal) {
  EXPECT_EQ(derived_uid("a"), derived_uid("a"));
  EXPECT_NE(derived_uid("a"), derived_uid("b"));
  for (const char* text : {"", "a", "b", "c", "d"}) {
    const std::string uid = derived_uid(text);
    ASSERT_TRUE(uid.starts_with("2.25."));
    EXPECT_LE(uid.size(), 44u);
    EXPECT_NE(uid[5], '0');
    unsigned __int128 value = 0;
    for (const char digit : uid.substr(5)) value = 10 * value + static_cast<unsigned>(digit - '0');
    EXPECT_EQ(static_cast<unsigned>(value >> 76) & 0xFU, 8u) << "the version of RFC 9562 for values of one's own";
    EXPECT_EQ(static_cast<unsigned>(value >> 62) & 3U, 2u) << "its variant";
  }
}

}  // namespace
}  // namespace voxshard
