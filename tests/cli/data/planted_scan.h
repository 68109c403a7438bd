// A DICOM scan whose header says who it is, for tests that look for that in everything that a command writes.
//
//   write_planted_scan(folder / "ct", {.missing = {9, 10}});
//   expect_nobody(run_voxshard("info " + folder.string()));
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/cli/run_voxshard.h"
#include "tests/io/archive_files.h"
#include "tests/io/dicom_files.h"

namespace voxshard {

constexpr const char* kPlantedName = "Planted^Person";
constexpr const char* kPlantedStudy = "1.2.840.99.77.1";
constexpr const char* kPlantedSeries = "1.2.840.99.77.2";

struct PlantedScan {
  std::vector<int> missing = {};  // slices
  std::string series = kPlantedSeries, kernel = "B30f";
};

/// Returns the files of 32 slices of 48 x 48 pixels of 2 mm, 3 mm apart: a bright ball in air. Names of files are
/// planted too where `names_patient` says so.
inline std::vector<PackedEntry> planted_scan(const PlantedScan& scan = {}, bool names_patient = false) {
  std::vector<PackedEntry> files;
  for (int z = 0; z < 32; ++z) {
    if (std::find(scan.missing.begin(), scan.missing.end(), z) != scan.missing.end()) continue;
    DicomSpec spec{.instance = scan.series + "." + std::to_string(z), .study = kPlantedStudy, .series = scan.series};
    spec.frame_of_reference = "1.2.3.9", spec.patient = kPlantedName, spec.patient_id = "PLANTED-47-11",
    spec.institution = "Sanatorium Planted";
    spec.kernel = scan.kernel;
    spec.rows = spec.columns = 48, spec.pixel_spacing = "2\\2";
    spec.position = {{-48, -40, 3.0 * z}}, spec.intercept = "-1000";
    std::vector<std::int16_t> pixels;
    for (int y = 0; y < 48; ++y)
      for (int x = 0; x < 48; ++x) pixels.push_back(std::hypot(x - 24, y - 24, 1.5 * (z - 16)) < 15 ? 1040 : 0);
    files.push_back(
        {(names_patient ? "Planted_Person/" : "") + ("IM" + std::to_string(100 - z)), dicom_bytes(spec, pixels)});
  }
  return files;
}

inline void write_planted_scan(const std::filesystem::path& folder, const PlantedScan& scan = {}) {
  std::filesystem::create_directories(folder);
  for (const PackedEntry& file : planted_scan(scan)) std::ofstream(folder / file.name, std::ios::binary) << file.bytes;
}

/// Expects nothing of the header's identity in a text.
inline void expect_nobody(const std::string& text) {
  for (const char* planted : {"Planted", "planted", "PLANTED", "Person", "47-11", "Sanatorium", "1.2.840.99.77"})
    EXPECT_THAT(text, testing::Not(testing::HasSubstr(planted)));
}
inline void expect_nobody(const CommandResult& r) { expect_nobody(r.out), expect_nobody(r.err); }

/// The same of the names and contents of all files in a folder, unpacked where they are gzip.
inline void expect_nobody_in(const std::filesystem::path& folder) {
  for (const auto& file : std::filesystem::recursive_directory_iterator(folder)) {
    expect_nobody(file.path().filename().string());
    if (!file.is_regular_file()) continue;
    gzFile in = gzopen(file.path().c_str(), "rb");  // reads plain files too
    std::string text(std::size_t{1} << 20, '\0');
    for (int got; (got = gzread(in, text.data(), static_cast<unsigned>(text.size()))) > 0;)
      expect_nobody(text.substr(0, static_cast<std::size_t>(got)));
    gzclose(in);
  }
}

}  // namespace voxshard
