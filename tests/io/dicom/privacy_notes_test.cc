// Notes on what the pixels of a series may tell of the patient: burned-in text and faces, from files made by hand.
#include <functional>

#include "io/volume/volume.h"
#include "tests/io/dicom_files.h"
#include "tests/io/test_files.h"

namespace voxshard {
namespace {

using testing::HasSubstr;

/// Returns the warning about a series of three slices; `change` edits what is written of each.
std::string warning_of(const std::function<void(DicomSpec& spec, int slice)>& change) {
  ScratchFolder dir;
  for (int z = 0; z < 3; ++z) {
    DicomSpec spec{.instance = "1.2.3.1." + std::to_string(z)};
    spec.position = {{0, 0, 9.0 * z}};
    change(spec, z);
    write_bytes(dir.path() / (std::to_string(z) + ".dcm"), dicom_bytes(spec, {1, 2, 3, 4}));
  }
  const VolumeInfo info = read_volume_info(dir.path());
  EXPECT_TRUE(info.readable) << info.problem;
  return info.warning;
}

TEST(PrivacyNotes, TextThatIsBurnedInIsSaidWithTheNumberOfFiles) {
  EXPECT_EQ(warning_of([](DicomSpec& spec, int slice) { spec.burned_in = slice == 1 ? "YES" : "NO"; }),
            "W_BURNED 1 of its 3 files say that text is burned into their pixels: it may name the patient");
  EXPECT_EQ(warning_of([](DicomSpec& spec, int) { spec.burned_in = "NO"; }), "");
  EXPECT_EQ(warning_of([](DicomSpec&, int) {}), "");
}

TEST(PrivacyNotes, HeadsAreSaidByTheirPartOfTheBodyWhateverItsSpelling) {
  for (const char* part : {"HEAD", "BRAIN", "SKULL", "Head-Neck", "HEADNECK", "FACE", "WHOLEBODY", "WHOLE_BODY"})
    EXPECT_EQ(warning_of([&](DicomSpec& spec, int) { spec.body_part = part; }),
              "W_FACE it shows a head: a face can be drawn from its voxels, whatever its header says")
        << part;
  for (const char* part : {"", "CHEST", "ABDOMEN", "NECK", "CORONARYSINUS", "FOREARM"})
    EXPECT_EQ(warning_of([&](DicomSpec& spec, int) { spec.body_part = part; }), "") << part;
  EXPECT_THAT(warning_of([](DicomSpec& spec, int) { spec.body_part = "BRAIN", spec.modality = "MR"; }),
              HasSubstr("W_FACE"));
}

TEST(PrivacyNotes, WhatTheFileSaysOfItsFaceGoesBeforeItsPart) {
  EXPECT_EQ(warning_of([](DicomSpec& spec, int) { spec.body_part = "HEAD", spec.recognizable = "NO"; }), "")
      << "a defaced head";
  EXPECT_THAT(warning_of([](DicomSpec& spec, int) { spec.body_part = "CHEST", spec.recognizable = "YES"; }),
              HasSubstr("W_FACE"));
}

TEST(PrivacyNotes, StandBesideOthers) {
  EXPECT_EQ(warning_of([](DicomSpec& spec, int) { spec.body_part = "HEAD", spec.burned_in = "YES", spec.slope = ""; }),
            "W_RESCALE it has no RescaleSlope: stored values are taken as Hounsfield units; W_BURNED 3 of its 3 files "
            "say that text is burned into their pixels: it may name the patient; W_FACE it shows a head: a face can be "
            "drawn from its voxels, whatever its header says");
}

}  // namespace
}  // namespace voxshard
