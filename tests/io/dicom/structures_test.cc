// Names, types and references of structure files, and what makes such a file unusable.
#include "io/dicom/structures.h"

#include "io/dicom/dicom_text.h"
#include "io/dicom/structure_contours.h"
#include "tests/io/structure_files.h"
#include "tests/io/test_files.h"

namespace voxshard {
namespace {

using testing::ElementsAre;

class Structures : public testing::Test {
 protected:
  fs::path write(const std::string& bytes) const {
    write_bytes(scratch_ / "RS.dcm", bytes);
    return scratch_ / "RS.dcm";
  }
  StructureFile read(const std::string& bytes) const { return read_structure_file(write(bytes)); }
  std::string name_in(const std::string& character_set, const std::string& name) const {
    return read(structure_set_bytes({.character_set = character_set, .rois = {{.name = name}}})).structures.at(0).name;
  }
  void expect_refused(const ContourSpec& contour, const std::string& piece) const {
    const fs::path path = write(structure_set_bytes({.rois = {{.contours = {contour}}}}));
    expect_error(ErrorKind::kInput, piece, [&] { read_structure_contours(path, {1}); });
  }
  ScratchFolder scratch_{"structures"};
};

TEST_F(Structures, AStructureSetSaysItsNamesItsTypesAndItsSeries) {
  const ContourSpec closed{.points = square({0, 0, 5}, 4)}, point{.points = {{1, 2, 5}}, .type = "POINT"},
      open{.points = square({0, 0, 5}, 4), .type = "OPEN_PLANAR"};
  const StructureFile file = read(
      structure_set_bytes({.rois = {{.number = 4, .name = "Liver", .type = "ORGAN", .contours = {closed, open, closed}},
                                    {.number = 2, .name = "Iso ", .type = "ISOCENTER", .contours = {point}},
                                    {.number = 7, .name = "Not drawn", .type = ""}}}));
  EXPECT_EQ(file.kind, StructureKind::kContours);
  EXPECT_EQ(file.series_uid, "1.2.3.4");
  EXPECT_EQ(file.frame_of_reference_uid, "1.2.3.9");
  ASSERT_EQ(file.structures.size(), 3U);
  const NamedStructure &liver = file.structures[0], &iso = file.structures[1], &empty = file.structures[2];
  EXPECT_EQ(std::tie(liver.number, liver.name, liver.type), std::tuple(4, "Liver", "ORGAN"));
  EXPECT_EQ(std::tie(liver.drawn, liver.left_out), std::tuple(2, 1));
  EXPECT_EQ(std::tie(iso.name, iso.drawn, iso.left_out), std::tuple("Iso", 0, 1));
  EXPECT_EQ(std::tie(empty.name, empty.drawn, empty.left_out), std::tuple("Not drawn", 0, 0));
}

TEST_F(Structures, ASegmentationSaysTheSame) {
  const StructureFile file = read(segmentation_bytes(
      {.segments = {"Leber", "Milz"},
       .frames = {{.values = "\1\0\0\0"}, {.segment = 1, .position = {0, 0, 1}, .values = "\1\1\1\1"}}}));
  EXPECT_EQ(file.kind, StructureKind::kSegmentation);
  EXPECT_EQ(file.series_uid, "1.2.3.4");
  EXPECT_EQ(file.frame_of_reference_uid, "1.2.3.9");
  ASSERT_EQ(file.structures.size(), 2U);
  EXPECT_EQ(file.structures[0].name, "Leber");
  EXPECT_EQ(file.structures[0].type, "Organ");
  EXPECT_EQ(file.structures[0].drawn, 2);
  EXPECT_EQ(file.structures[1].number, 2);
  EXPECT_EQ(file.structures[1].drawn, 0);
}

TEST_F(Structures, NamesAreReadInTheCharacterSetOfTheFile) {
  EXPECT_EQ(name_in("ISO_IR 100", "Gl\xe4ndula"), "Gländula") << "Latin-1";
  EXPECT_EQ(name_in("ISO_IR 192", "Gländula"), "Gländula") << "UTF-8";
  EXPECT_EQ(name_in("ISO_IR 144", "\xbf\xd5\xe7\xd5\xdd\xec"), "Печень") << "Cyrillic";
  EXPECT_EQ(name_in("GB18030", "\xb8\xce"), "肝");
  EXPECT_EQ(name_in("", "Gländula"), "Gländula") << "UTF-8 that the file does not mention";
}

// The texts are those of DICOM PS3.5 H.3.2, I.2 and K.2, or made by Python's codecs iso2022_jp, euc_kr and gb18030.
TEST_F(Structures, NamesWithEscapeSequencesAreReadToo) {
  EXPECT_EQ(name_in("\\ISO 2022 IR 87", "Yamada \x1b$B;3ED\x1b(B \x1b$BB@O:\x1b(B"), "Yamada 山田 太郎");
  EXPECT_EQ(name_in("ISO 2022 IR 6\\ISO 2022 IR 87", "\x1b$B4NB!\x1b(B left"), "肝臓 left");
  EXPECT_EQ(name_in("ISO 2022 IR 87", "\x1b$B4NB!\x1b(B"), "肝臓") << "alone, as some programs write it";
  EXPECT_EQ(name_in("ISO 2022 IR 13\\ISO 2022 IR 87", "\xd4\xcf\xc0\xde \x1b$B;3ED\x1b(J"), "ﾔﾏﾀﾞ 山田");
  EXPECT_EQ(name_in("\\ISO 2022 IR 87", "\x1b$B%\\%?%s\x1b(B"), "ボタン") << "a letter that ends in a backslash";
  EXPECT_EQ(name_in("\\ISO 2022 IR 159", "\x1b$(D0!\x1b(B"), "丂");
  EXPECT_EQ(name_in("\\ISO 2022 IR 149", "\x1b$)C\xb0\xa3 left"), "간 left");
  EXPECT_EQ(name_in("ISO 2022 IR 149", "\x1b$)C\xb0\xa3 left"), "간 left");
  EXPECT_EQ(name_in("\\ISO 2022 IR 58", "\x1b$)A\xb8\xce"), "肝");
  EXPECT_EQ(name_in("GB18030", "\xb8\xce\xd4\xe0 \x81\x39\xee\x39 right"), "肝脏 㐀 right") << "four bytes";
  EXPECT_EQ(name_in("GB18030", "\x94\x5c"), "擻") << "a letter that ends in a backslash";
  EXPECT_EQ(name_in("GBK", "\x94\x5c\xb8\xce"), "擻肝");
  EXPECT_EQ(name_in("\\ISO 2022 IR 87", "\x1b$B\\!\x1b(B left"), "棔 left") << "a letter that begins with a backslash";
}

TEST_F(Structures, NamesThatCannotBeReadAreShownByTheirBytes) {
  EXPECT_EQ(name_in("\\ISO 2022 IR 87", "\x1b$B4\x1b(B"), "\\x1b$B4\\x1b(B") << "half of a letter";
  EXPECT_EQ(name_in("\\ISO 2022 IR 149", "\xb0\xa3"), "\\xb0\\xa3") << "without the escape sequence";
  EXPECT_EQ(name_in("", "Gl\xe4ndula"), "Gl\\xe4ndula");
  EXPECT_EQ(name_in("NO SUCH SET", "Gl\xe4ndula"), "Gl\\xe4ndula");
  EXPECT_EQ(name_in("ISO_IR 100", "\x1b[2Jliver").find('\x1b'), std::string::npos) << "and do not steer a terminal";
}

TEST_F(Structures, ReferencesToSeveralSeriesOrFramesAreNone) {
  const StructureFile file =
      read(structure_set_bytes({.rois = {{.number = 1}, {.number = 2, .frame_of_reference = "1.2.3.10"}}}));
  EXPECT_EQ(file.frame_of_reference_uid, "");
  EXPECT_EQ(file.structures[1].frame_of_reference_uid, "1.2.3.10");
}

TEST_F(Structures, AnAmbiguousNumberIsRefused) {
  expect_error(ErrorKind::kInput, "two structures of the number 3", [&] {
    read(structure_set_bytes({.rois = {{.number = 3}, {.number = 3}}}));
  });
}

TEST_F(Structures, OtherFilesAreNoStructureFiles) {
  const fs::path slice = write(dicom_bytes({}, {1, 2, 3, 4}));
  EXPECT_FALSE(is_structure_file(slice));
  expect_error(ErrorKind::kInput, "neither a DICOM segmentation nor an RT structure set",
               [&] { read_structure_file(slice); });
  EXPECT_FALSE(is_structure_file(scratch_ / "missing.dcm"));
  EXPECT_TRUE(is_structure_file(write(structure_set_bytes({}))));
  EXPECT_TRUE(is_structure_set_file(scratch_ / "RS.dcm"));
  EXPECT_TRUE(is_structure_file(write(segmentation_bytes({.frames = {{.values = "\1\1\1\1"}}}))));
  EXPECT_FALSE(is_structure_set_file(scratch_ / "RS.dcm"));
}

TEST_F(Structures, ACutFileIsRefused) {
  std::string bytes = structure_set_bytes({.rois = {{.contours = {{.points = square({0, 0, 0}, 2)}}}}});
  bytes.resize(bytes.size() - 20);
  expect_error(ErrorKind::kInput, "truncated or damaged", [&] { read(bytes); });
}

TEST_F(Structures, SequencesThatNestWithoutEndAreRefused) {
  DicomWriter w;
  w.text(0x0008, 0x0016, "UI", "1.2.840.10008.5.1.4.1.1.481.3");
  std::string deep = w.bytes();
  const std::string sequence = std::string("\x06\x30\x20\0SQ\0\0\xff\xff\xff\xff", 12),
                    item = std::string("\xfe\xff\0\xe0\xff\xff\xff\xff", 8);
  for (int i = 0; i < 200'000; ++i) deep += sequence + item;
  const fs::path path = write(structure_file("1.2.840.10008.5.1.4.1.1.481.3", "1.2", deep));
  expect_error(ErrorKind::kInput, "deeper than is read", [&] { read_structure_file(path); });
  expect_error(ErrorKind::kInput, "deeper than is read", [&] { read_dicom_header(path); });
}

TEST_F(Structures, ContoursAreReadAsTheyAre) {
  const ContourSpec padded{.count = 3, .data = "1\\2\\3 \\ -4.5\\+5\\6e1\\7\\8\\9"};
  const ContourSpec point{.points = {{1, 2, 5}}, .type = "POINT"};
  ContourSpec unknown{.points = square({0, 0, 5}, 4), .unknown_type = true};
  const fs::path path = write(structure_set_bytes(
      {.rois = {{.number = 1, .contours = {padded, point, unknown}}, {.number = 2, .contours = {padded}}}}));
  const std::vector<StructureContours> read = read_structure_contours(path, {1});
  ASSERT_EQ(read.size(), 1U) << "structures that are not asked for are left out";
  ASSERT_EQ(read[0].contours.size(), 2U);
  EXPECT_EQ(read[0].contours[0], (Contour{{1, 2, 3}, {-4.5, 5, 60}, {7, 8, 9}}));
  EXPECT_EQ(read[0].contours[1], square({0, 0, 5}, 4)) << "of the type UN";
}

TEST_F(Structures, ContoursThatMakeNoSenseAreRefused) {
  expect_refused({.count = 3, .data = "1\\2\\3\\4\\5\\6\\7\\8"}, "not three to a point");
  expect_refused({.count = 3, .data = "1\\2\\3\\4\\x\\6\\7\\8\\9"}, "no numbers");
  expect_refused({.count = 3, .data = "1\\2\\3\\4\\nan\\6\\7\\8\\9"}, "beyond 1000000 mm");
  expect_refused({.count = 3, .data = "1\\2\\3\\4\\1e9\\6\\7\\8\\9"}, "beyond 1000000 mm");
  expect_refused({.count = 3, .data = "1\\2\\3\\4\\5\\6\\7\\8\\9\\"}, "no numbers");
  expect_refused({.count = 4, .data = "1\\2\\3\\4\\5\\6\\7\\8\\9"}, "not as many as it says");
  expect_refused({.count = 3, .data = " "}, "not as many as it says");
}

TEST_F(Structures, PublishedStructureSetsAreRead) {
  const fs::path folder = test_data() / "dicom_tricky" / "rt-utils";
  REQUIRE_TEST_DATA(folder);
  int sets = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file() || !is_structure_set_file(entry.path())) continue;
    ++sets;
    const StructureFile file = read_structure_file(entry.path());
    EXPECT_FALSE(file.structures.empty());
    std::set<int> numbers;
    for (const NamedStructure& structure : file.structures) numbers.insert(structure.number);
    for (const StructureContours& one : read_structure_contours(entry.path(), numbers))
      for (const Contour& contour : one.contours) EXPECT_GE(contour.size(), 3U);
  }
  EXPECT_EQ(sets, 3);
  EXPECT_EQ(read_structure_file(folder / "mock_data" / "rt.dcm").series_uid,
            read_dicom_header(folder / "mock_data" / "ct_1.dcm").series);
}

}  // namespace
}  // namespace voxshard
