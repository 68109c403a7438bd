// NRRD files written byte by byte: fields, spaces, encodings, and headers that lie.
#include <algorithm>

#include "io/volume/volume.h"
#include "tests/io/test_files.h"
#include "tests/io/volume/landmark.h"

namespace voxshard {
namespace {

using testing::HasSubstr;

/// A header of 2 x 2 x 2 voxels with the fields of `more` behind the others.
std::string nrrd_fields(const std::string& more, const std::string& type = "short",
                        const std::string& endian = "little") {
  return "NRRD0004\n# a comment\ntype: " + type + "\ndimension: 3\nsizes: 2 2 2\nendian: " + endian + "\n" + more;
}
constexpr const char* kSpace =
    "space: left-posterior-superior\nspace directions: (1,0,0) (0,1,0) (0,0,1)\nspace origin: (0,0,0)\n";

std::string shorts(bool big_endian = false) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) append_scalar(bytes, 4, i * 300 - 5, big_endian);
  return bytes;
}

/// Returns the problem or error text of a file; empty when it is read and holds shorts().
std::string nrrd_problem(const ScratchFolder& dir, const std::string& bytes, const std::string& name = "a.nrrd") {
  write_bytes(dir.path() / name, bytes);
  try {
    const Volume v = read_label(dir.path() / name);
    for (std::int64_t i = 0; i < 8; ++i) EXPECT_EQ(v.voxels.as<std::int32_t>()[i], i * 300 - 5);
    EXPECT_TRUE(check_volume(dir.path() / name).readable);
    return "";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::kInput) << e.what();
    return e.what();
  }
}

TEST(Nrrd, RawGzipAndDetachedDataAreRead) {
  ScratchFolder dir;
  const std::string raw = "encoding: raw\n", gzip = "encoding: gzip\n", packed = gzipped(shorts(), dir.path());
  EXPECT_EQ(nrrd_problem(dir, nrrd_fields(kSpace + raw) + "\n" + shorts()), "");
  EXPECT_EQ(nrrd_problem(dir, nrrd_fields(kSpace + raw, "int16", "BIG") + "\n" + shorts(true)), "");
  EXPECT_EQ(nrrd_problem(dir, nrrd_fields(kSpace + gzip) + "key:=value: x\n\n" + packed), "");
  EXPECT_EQ(nrrd_problem(dir, nrrd_fields(kSpace + raw + "byte skip: 3\n") + "\nxyz" + shorts()), "");
  EXPECT_EQ(nrrd_problem(dir, nrrd_fields(kSpace + raw + "byteskip: -1\n") + "\nanything" + shorts()), "");
  std::string windows = nrrd_fields(kSpace + raw);
  for (std::size_t at = 0; (at = windows.find('\n', at)) != std::string::npos; at += 2) windows.insert(at, "\r");
  EXPECT_EQ(nrrd_problem(dir, windows + "\r\n" + shorts()), "");
  write_bytes(dir.path() / "a.raw", shorts());
  write_bytes(dir.path() / "a.raw.gz", packed);
  EXPECT_EQ(nrrd_problem(dir, nrrd_fields(kSpace + raw + "data file: a.raw\n"), "a.nhdr"), "");
  EXPECT_EQ(nrrd_problem(dir, nrrd_fields(kSpace + gzip + "datafile: a.raw.gz\n"), "a.nhdr"), "");
  EXPECT_EQ(files_of_volume(dir.path() / "a.nhdr"), (std::vector{dir.path() / "a.nhdr", dir.path() / "a.raw.gz"}));
  EXPECT_EQ(files_of_volume(dir.path() / "none.nhdr"), std::vector{dir.path() / "none.nhdr"});
}

TEST(Nrrd, EveryScalarTypeInBothByteOrdersIsRead) {
  ScratchFolder dir;
  const std::pair<const char*, std::int16_t> types[] = {
      {"uchar", 2},  {"int8", 256},   {"short", 4},        {"unsigned short int", 512},
      {"int", 8},    {"uint32", 768}, {"long long", 1024}, {"uint64_t", 1280},
      {"float", 16}, {"double", 64}};
  for (const auto& [name, code] : types)
    for (bool big : {false, true}) {
      std::string bytes = nrrd_fields(kSpace + std::string("encoding: raw\n\n"), name, big ? "big" : "little");
      for (int i = 0; i < 8; ++i) append_scalar(bytes, code, 11 * i, big);
      write_bytes(dir.path() / "a.nrrd", bytes);
      const Volume v = read_image(dir.path() / "a.nrrd");
      for (int i = 0; i < 8; ++i) EXPECT_EQ(v.voxels.as<float>()[i], static_cast<float>(11 * i)) << name << big;
    }
}

TEST(Nrrd, EverySpaceGivesTheSameWorld) {
  ScratchFolder dir;
  const std::pair<const char*, std::array<int, 3>> spaces[] = {{"right-anterior-superior", {-1, -1, 1}},
                                                               {"RAS", {-1, -1, 1}},
                                                               {"left-anterior-superior", {1, -1, 1}},
                                                               {"LPS", {1, 1, 1}}};
  for (const auto& [name, sign] : spaces) {
    write_bytes(dir.path() / "a.nrrd", landmark_nrrd(name, sign, ""));
    expect_landmark(read_image(dir.path() / "a.nrrd"), name);
    EXPECT_EQ(read_volume_info(dir.path() / "a.nrrd").warning, "") << name;
  }
  write_bytes(dir.path() / "a.nrrd", landmark_nrrd("scanner-xyz", {1, 1, 1}, ""));
  expect_landmark(read_image(dir.path() / "a.nrrd"), "scanner-xyz");
  EXPECT_THAT(read_volume_info(dir.path() / "a.nrrd").warning, HasSubstr("W_FORMS its space names no sides"));
  std::string scaled = landmark_nrrd("LPS", {1, 1, 1}, "space units: \"cm\" \"cm\" \"cm\"\n");
  write_bytes(dir.path() / "a.nrrd", scaled);
  EXPECT_NEAR(read_volume_info(dir.path() / "a.nrrd").geometry.spacing[0], 10 * kLandmark.geometry.spacing[0], 1e-9);
}

TEST(Nrrd, AHeaderWithoutDirectionsIsReadWithAWarning) {
  ScratchFolder dir;
  EXPECT_EQ(nrrd_problem(dir, nrrd_fields("encoding: raw\nspacings: 1.5 2 2.5\n\n") + shorts()), "");
  const VolumeInfo info = read_volume_info(dir.path() / "a.nrrd");
  EXPECT_EQ(info.geometry.spacing, (std::array<double, 3>{1.5, 2, 2.5}));
  EXPECT_EQ(info.form_used, "none (spacing only)");
  EXPECT_THAT(info.warning, HasSubstr("W_FORMS"));
}

TEST(Nrrd, LastAxesOfOneValueAreLeftOut) {
  ScratchFolder dir;
  const auto with_axes = [](const std::string& sizes, const std::string& more) {
    const auto count = static_cast<std::size_t>(std::ranges::count(sizes, ' ')) + 1;
    std::string fields = nrrd_fields(more + "encoding: raw\n\n");
    return fields.replace(fields.find("dimension: 3\nsizes: 2 2 2"), 25,
                          "dimension: " + std::to_string(count) + "\nsizes: " + sizes) +
           shorts();
  };
  const std::string axes = "space: LPS\nspace origin: (5,6,7)\nspace directions: (2,0,0) (0,3,0) (0,0,4)";
  for (const std::string& file : {with_axes("2 2 2 1", axes + " none\nkinds: domain domain domain list\n"),
                                  with_axes("2 2 2 1", axes + " none\n"), with_axes("2 2 2 1 1", axes + " none none\n"),
                                  with_axes("2 2 2 1", "spacings: 2 3 4 1\n")}) {
    EXPECT_EQ(nrrd_problem(dir, file), "") << file;
    EXPECT_EQ(read_volume_info(dir.path() / "a.nrrd").geometry.spacing, (std::array<double, 3>{2, 3, 4}));
  }
  EXPECT_THAT(nrrd_problem(dir, with_axes("1 2 2 2", axes + " none\n")), HasSubstr("has 4 dimensions"));
  EXPECT_THAT(nrrd_problem(dir, with_axes("2 2 1 2", axes + " none\n")), HasSubstr("has 4 dimensions"));
  EXPECT_THAT(nrrd_problem(dir, with_axes("2 2 2 1", axes + "\n")), HasSubstr("without a direction in space"));
  EXPECT_THAT(nrrd_problem(dir, with_axes("2 2 2 1", "space: LPS\nspace directions: none (1,0,0) (0,1,0) (0,0,1)\n")),
              HasSubstr("without a direction in space"));
  EXPECT_THAT(nrrd_problem(dir, with_axes("2 2 2 1", "kinds: vector domain domain domain\n")),
              HasSubstr("axis 1 is of kind vector"));
}

TEST(Nrrd, ShearIsRepairedUpToHalfADegreeAndMeasured) {
  ScratchFolder dir;
  const auto sheared = [](const char* axis) {
    return nrrd_fields("encoding: raw\nspace: LPS\nspace directions: (100,0,0) " + std::string(axis) +
                       " (0,0,1)\nspace origin: (0,0,0)\n\n") +
           shorts();
  };
  EXPECT_EQ(nrrd_problem(dir, sheared("(0.5,100,0)")), "");
  const VolumeInfo info = read_volume_info(dir.path() / "a.nrrd");
  EXPECT_NEAR(info.shear_degrees, 0.2865, 1e-3);
  EXPECT_NEAR(info.shear_shift_mm, 0.5 / std::sqrt(2.0), 2e-3);
  EXPECT_THAT(nrrd_problem(dir, sheared("(2,100,0)")), HasSubstr("sheared axes (1.146 degrees, at most 0.5"));
  EXPECT_THAT(nrrd_problem(dir, sheared("(0,0,0)")), HasSubstr("axes with zeros"));
  EXPECT_THAT(nrrd_problem(dir, sheared("(1,0,0)")), HasSubstr("sheared axes (90"));
}

TEST(Nrrd, WhatIsNoScalarVolumeOfSpaceIsRefusedByName) {
  ScratchFolder dir;
  const auto refused = [&](std::string fields, const std::string& why) {
    EXPECT_THAT(nrrd_problem(dir, fields + "\n" + shorts()), HasSubstr(why));
  };
  const std::string raw = "encoding: raw\n";
  std::string four = nrrd_fields(kSpace + raw + "kinds: vector domain domain domain\n");
  four.replace(four.find("dimension: 3\nsizes: 2 2 2"), 25, "dimension: 4\nsizes: 3 2 2 2");
  refused(four, "has 4 dimensions (axis 1 is of kind vector with 3 values)");
  refused(nrrd_fields(kSpace + raw + "kinds: RGB-color domain domain\n"), "is of kind RGB-color");
  refused(nrrd_fields("space: LPS\nspace directions: none (0,1,0) (0,0,1)\n" + raw), "without a direction in space");
  refused(nrrd_fields(kSpace + std::string("encoding: ascii\n")), "is encoded as ascii");
  refused(nrrd_fields(kSpace + raw, "block"), "voxels of the type block");
  refused(nrrd_fields(kSpace + raw, "short", "middle"), "byte order");
  refused(nrrd_fields("space: right-up\nspace directions: (1,0,0) (0,1,0) (0,0,1)\n" + raw), "in the space right-up");
  refused(nrrd_fields(kSpace + raw + "space units: \"furlong\" \"mm\" \"mm\"\n"), "space unit \"furlong\"");
  refused(nrrd_fields(kSpace + raw + "line skip: 1\n"), "skips lines");
  refused(nrrd_fields(kSpace + raw + "encoding: gzip\n"), "two fields \"encoding\"");
  refused(nrrd_fields(kSpace), "without the field \"encoding\"");
  refused(nrrd_fields(kSpace + raw + "no field at all\n"), "a line that is no field");
  refused("NRRD0009\n", "is not an NRRD file");
  for (const char* sizes : {"2 2", "2 2 0", "2 2 -2", "2 2 x", "99999999999999999999 2 2"}) {
    std::string bad = nrrd_fields(kSpace + raw);
    bad.replace(bad.find("2 2 2"), 5, sizes);
    refused(bad, "has a header w");
  }
  for (const char* axes : {"(1,0,0) (0,1,0) (0,0", "(1,0,0) (0,1,0) (0,nan,1)", "(1,0) (0,1,0) (0,0,1)", "(1,0,0) 3 4"})
    refused(nrrd_fields("space: LPS\n" + raw + "space directions: " + axes + "\n"), "expected vectors");
  EXPECT_THAT(nrrd_problem(dir, "NRRD0004\n" + std::string(2 << 20, 'x')), HasSubstr("more than a MiB"));
}

TEST(Nrrd, TruncatedAndDamagedVoxelsAreNoticed) {
  ScratchFolder dir;
  const std::string raw = nrrd_fields(kSpace + std::string("encoding: raw\n\n")),
                    gzip = nrrd_fields(kSpace + std::string("encoding: gzip\n\n"));
  EXPECT_THAT(nrrd_problem(dir, raw + shorts().substr(1)), HasSubstr("is truncated"));
  EXPECT_THAT(nrrd_problem(dir, raw.substr(0, raw.size() - 1)), HasSubstr("ends without the empty line"));
  const std::string packed = gzipped(shorts(), dir.path());
  for (std::size_t cut = 1; cut < packed.size(); ++cut)
    EXPECT_NE(nrrd_problem(dir, gzip + packed.substr(0, packed.size() - cut)), "") << cut;
  for (std::size_t at = 10; at < packed.size(); ++at) {
    std::string damaged = packed;
    damaged[at] = static_cast<char>(damaged[at] ^ 4);
    EXPECT_NE(nrrd_problem(dir, gzip + damaged), "") << at;
  }
  EXPECT_THAT(nrrd_problem(dir, gzip + shorts()), HasSubstr("is not compressed although"));
  std::string huge = raw;
  huge.replace(huge.find("2 2 2"), 5, "9000000000 9000000000 9000000000");
  EXPECT_THAT(nrrd_problem(dir, huge + shorts()), HasSubstr("more than the"));
}

TEST(Nrrd, ADataFileIsAPlainNameInTheSameFolder) {
  ScratchFolder dir;
  write_bytes(dir.path() / "secret.raw", shorts());
  fs::create_directories(dir.path() / "in");
  const std::string absolute = (dir.path() / "secret.raw").string();
  for (const std::string& name :
       {std::string("../secret.raw"), absolute, std::string(".hidden"), std::string("a\\b"), std::string()})
    EXPECT_NE(
        nrrd_problem(dir, nrrd_fields(kSpace + std::string("encoding: raw\ndata file: ") + name + "\n"), "in/a.nhdr"),
        "")
        << name;
  const auto detached = [&](const std::string& name) {
    return nrrd_problem(dir, nrrd_fields(kSpace + std::string("encoding: raw\ndata file: ") + name + "\n"), "a.nhdr");
  };
  EXPECT_THAT(detached("LIST"), HasSubstr("in several files"));
  EXPECT_THAT(detached("slice%03d.raw 1 2 1"), HasSubstr("in several files"));
  EXPECT_THAT(detached("none.raw"), HasSubstr("does not exist"));
  EXPECT_THAT(detached("in"), HasSubstr("not a file"));
  EXPECT_THAT(nrrd_problem(dir, nrrd_fields(kSpace + std::string("encoding: raw\n")), "a.nhdr"),
              HasSubstr("data file"));
}

}  // namespace
}  // namespace voxshard
