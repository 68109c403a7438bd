// SUV of a PET series: hand-made numbers, what is lacking is named, and nothing of the patient is said.
#include "io/dicom/suv.h"

#include "io/volume/volume.h"
#include "tests/io/dicom_files.h"
#include "tests/io/test_files.h"

namespace voxshard {
namespace {

using testing::ElementsAre;
using testing::FloatNear;
using testing::HasSubstr;
using testing::Not;

constexpr double kHourSeconds = 3600;

/// 74 kg and 370 MBq with a half-life of an hour, given at 10:00 on a day, scanned from 11:00 on: 185 MBq are left, and
/// 74000 g / 185 MBq = 4e-4 g/Bq.
PetHeader usual_pet() {
  return {.units = "BQML",
          .decay_correction = "START",
          .corrections = "DECY\\ATTN",
          .weight_kg = 74,
          .dose_bq = 370e6,
          .half_life_s = kHourSeconds,
          .series_s = seconds_of("20240131", "110000"),
          .acquisition_s = seconds_of("20240131", "110000"),
          .injected_of_day_s = seconds_of_day("100000")};
}

SuvScale scale_of(const PetHeader& header) { return suv_scale({&header, 1}); }

TEST(Suv, DatesAndTimesAreSeconds) {
  EXPECT_EQ(seconds_of("19700102", "000001"), 86401);
  EXPECT_EQ(seconds_of_day("235959.25"), 86399.25);
  EXPECT_EQ(seconds_of_date_time("19700101010000.5+0100"), 3600.5);
  for (const char* bad : {"", "25", "250000", "1062", "10:00:00", "-10000"}) EXPECT_FALSE(seconds_of_day(bad)) << bad;
  for (const char* bad : {"", "20240230", "2024131", "202401311"}) EXPECT_FALSE(seconds_of(bad, "100000")) << bad;
  EXPECT_FALSE(seconds_of_date_time("20240131"));
}

TEST(Suv, HalfOfTheDoseIsLeftAfterAHalfLife) {
  const SuvScale scale = scale_of(usual_pet());
  EXPECT_EQ(scale.lacks, "");
  EXPECT_DOUBLE_EQ(scale.factor, 4e-4);
}

TEST(Suv, FluorineAfterAnHourIsTheTextbooksNumber) {
  PetHeader pet = usual_pet();
  pet.weight_kg = 70, pet.half_life_s = 6586.2;
  // 70000 / (3.7e8 * 2^(-3600 / 6586.2)), by hand: 2^-0.5465974 = 0.6846329
  EXPECT_NEAR(scale_of(pet).factor, 70000 / (3.7e8 * 0.6846329), 1e-10);
}

TEST(Suv, FilesThatDifferGiveNoFactorInAnyOrder) {
  PetHeader other = usual_pet();
  other.dose_bq = 100e6;
  for (const auto& pets : {std::array{usual_pet(), other}, std::array{other, usual_pet()}}) {
    EXPECT_EQ(suv_scale(pets).factor, 1);
    EXPECT_THAT(suv_scale(pets).lacks, HasSubstr("same units, weight, dose and times"));
  }
  PetHeader later = usual_pet();
  *later.acquisition_s += 60;  // slices of a later bed
  EXPECT_DOUBLE_EQ(suv_scale(std::array{usual_pet(), later}).factor, 4e-4);
}

TEST(Suv, ImagesCorrectedToTheAdministrationTakeTheInjectedDose) {
  PetHeader pet = usual_pet();
  pet.decay_correction = "ADMIN", pet.half_life_s.reset(), pet.series_s.reset();
  EXPECT_DOUBLE_EQ(scale_of(pet).factor, 2e-4);
}

TEST(Suv, AnInjectionBeforeMidnightWasOnTheDayBefore) {
  PetHeader pet = usual_pet();
  pet.series_s = pet.acquisition_s = seconds_of("20240201", "003000");
  pet.injected_of_day_s = seconds_of_day("233000");
  EXPECT_DOUBLE_EQ(scale_of(pet).factor, 4e-4);
  pet.injected_s = seconds_of_date_time("20240131223000");  // with its date: two half-lives
  EXPECT_DOUBLE_EQ(scale_of(pet).factor, 8e-4);
  pet.injected_s = seconds_of_date_time("20190101223000");  // a date that was shifted: the time alone counts
  EXPECT_DOUBLE_EQ(scale_of(pet).factor, 4e-4);
}

TEST(Suv, ADerivedSeriesBeginsWithItsFirstAcquisition) {
  std::vector<PetHeader> pets(2, usual_pet());
  for (PetHeader& pet : pets) pet.series_s = seconds_of("20240131", "180000");
  pets[0].acquisition_s = seconds_of("20240131", "110500");
  EXPECT_DOUBLE_EQ(suv_scale(pets).factor, 4e-4) << "the other file's, 11:00, is the earliest";
  pets[0].private_scan_s = seconds_of("20240131", "120000");
  EXPECT_DOUBLE_EQ(suv_scale(pets).factor, 8e-4) << "GE's own start of the scan comes first";
}

TEST(Suv, GramsPerMillilitreAreSuvAlreadyAndCountsTakePhilipsFactors) {
  PetHeader pet = usual_pet();
  pet.units = "GML";
  EXPECT_EQ(scale_of(pet).factor, 1);
  EXPECT_EQ(scale_of(pet).lacks, "");
  pet.suv_type = "LBM";
  EXPECT_EQ(scale_of(pet).lacks, "SUVType BW");
  pet.units = "CNTS";
  EXPECT_EQ(scale_of(pet).lacks, "Units BQML or GML");
  pet.private_bqml = 2;
  EXPECT_DOUBLE_EQ(scale_of(pet).factor, 8e-4);
  pet.private_suv = 3;
  EXPECT_EQ(scale_of(pet).factor, 3);
}

TEST(Suv, WhatIsLackingIsNamed) {
  const auto lacks = [](auto change) {
    PetHeader pet = usual_pet();
    change(pet);
    EXPECT_EQ(scale_of(pet).factor, 1);
    return scale_of(pet).lacks;
  };
  EXPECT_EQ(lacks([](PetHeader& p) { p.weight_kg.reset(); }), "PatientWeight");
  EXPECT_EQ(lacks([](PetHeader& p) { p.weight_kg = 0; }), "PatientWeight");
  EXPECT_EQ(lacks([](PetHeader& p) { p.dose_bq = 370; }), "RadionuclideTotalDose in Bq");  // MBq
  EXPECT_EQ(lacks([](PetHeader& p) { p.half_life_s = 0; }), "RadionuclideHalfLife");
  EXPECT_EQ(lacks([](PetHeader& p) { p.corrections = "ATTN\\SCAT"; }), "CorrectedImage with ATTN and DECY");
  EXPECT_EQ(lacks([](PetHeader& p) { p.decay_correction = "NONE"; }), "DecayCorrection START or ADMIN");
  EXPECT_EQ(lacks([](PetHeader& p) { p.series_s.reset(), p.acquisition_s.reset(); }), "SeriesDate and SeriesTime");
  EXPECT_EQ(lacks([](PetHeader& p) { p.injected_of_day_s.reset(); }),
            "a RadiopharmaceuticalStartTime that fits the scan");
  EXPECT_EQ(lacks([](PetHeader& p) { p.half_life_s = 60; }), "a RadiopharmaceuticalStartTime that fits the scan");
  EXPECT_EQ(lacks([](PetHeader& p) { p.weight_kg.reset(), p.dose_bq.reset(); }),
            "PatientWeight, RadionuclideTotalDose in Bq");
}

/// Writes a PET of two slices of 2 x 2 pixels; slice i has the slope 1000 (i + 1).
void write_pet(const fs::path& folder, const PetSpec& pet) {
  for (int i = 0; i < 2; ++i) {
    DicomSpec spec{.sop_class = "1.2.840.10008.5.1.4.1.1.128",
                   .instance = "1.2." + std::to_string(i),
                   .modality = "PT",
                   .position = {{0, 0, 3.0 * i}}};
    spec.slope = std::to_string(1000 * (i + 1)), spec.intercept = "0", spec.pet = pet;
    write_bytes(folder / std::to_string(i), dicom_bytes(spec, {0, 5, 10, 20}));
  }
}

TEST(Suv, APetSeriesIsReadInSuvSliceBySlice) {
  ScratchFolder dir;
  write_pet(dir.path(), {});
  const Volume pet = read_image(dir.path());
  const auto* v = pet.voxels.as<float>();
  EXPECT_THAT(std::vector<float>(v, v + 8),
              ElementsAre(0, FloatNear(2, 1e-6F), FloatNear(4, 1e-6F), FloatNear(8, 1e-6F), 0, FloatNear(4, 1e-6F),
                          FloatNear(8, 1e-6F), FloatNear(16, 1e-6F)));
  const VolumeInfo info = read_volume_info(dir.path());
  EXPECT_EQ(info.unit, "SUV by body weight (g/ml)");
  EXPECT_EQ(info.warning, "");
  EXPECT_NEAR(info.slope, 0.4, 1e-12);
}

TEST(Suv, APetWithoutItsNumbersKeepsItsUnitAndSaysWhatIsLacking) {
  ScratchFolder dir;
  PetSpec spec;
  spec.weight_kg = "", spec.injected = "";
  write_pet(dir.path(), spec);
  const VolumeInfo info = read_volume_info(dir.path());
  EXPECT_EQ(info.unit, "Bq/ml");
  EXPECT_TRUE(info.readable);
  EXPECT_EQ(info.warning,
            "W_SUV its values stay Bq/ml: for SUV its header lacks PatientWeight, a RadiopharmaceuticalStartTime that "
            "fits the scan");
  EXPECT_EQ(read_image(dir.path()).voxels.as<float>()[1], 5000);
}

TEST(Suv, NothingOfThePatientIsSaid) {
  ScratchFolder dir;
  PetSpec spec;
  spec.weight_kg = "77.25", spec.units = "CNTS", spec.injected = "101112", spec.dose_bq = "381234567";
  write_pet(dir.path(), spec);
  const VolumeInfo info = read_volume_info(dir.path());
  for (const char* secret : {"77.25", "101112", "381234567", "20240131", "Planted"})
    EXPECT_THAT(info.warning + info.unit + info.problem, Not(HasSubstr(secret)));
  EXPECT_EQ(info.unit, "as stored");
}

}  // namespace
}  // namespace voxshard
