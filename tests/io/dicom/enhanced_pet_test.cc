// Enhanced (multi-frame) PET: real world values, the dose in MBq, and decay corrected to a stated time.
#include "io/volume/volume.h"
#include "tests/io/enhanced_files.h"
#include "tests/io/test_files.h"

namespace voxshard {
namespace {

using testing::ElementsAre;
using testing::FloatNear;

/// 74 kg and 370 MBq with a half-life of an hour, given an hour before the time that decay is corrected to.
struct EnhancedPetSpec {
  struct Mapping {
    std::string unit;
    double slope = 1, intercept = 0;
  };
  std::vector<Mapping> mappings = {{"Bq/ml", 1000}};
  std::vector<Mapping> of_second_frame = {};
  std::string dose = "370", decay_corrected = "YES", attenuation_corrected = "YES";
  std::string corrected_to = "20240131110000.00";
};

void add_double(DicomWriter& w, std::uint16_t element, double value) {
  w.text(0x0040, element, "FD", {reinterpret_cast<const char*>(&value), sizeof value});
}

void add_mappings(DicomWriter& groups, const std::vector<EnhancedPetSpec::Mapping>& mappings) {
  std::vector<std::string> items;
  for (const auto& [unit, slope, intercept] : mappings) {
    DicomWriter code, item;
    code.text(0x0008, 0x0100, "SH", unit);
    item.sequence(0x0040, 0x08ea, {code.bytes()});
    add_double(item, 0x9224, intercept);
    add_double(item, 0x9225, slope);
    items.push_back(item.bytes());
  }
  if (!items.empty()) groups.sequence(0x0040, 0x9096, items);
}

std::string mappings_group(const std::vector<EnhancedPetSpec::Mapping>& mappings) {
  DicomWriter groups;
  add_mappings(groups, mappings);
  return groups.bytes();
}

/// Two frames of 2 x 2 pixels: 0, 5, 10, 20 and their doubles.
std::string enhanced_pet_bytes(const EnhancedPetSpec& s) {
  DicomWriter patient, acquisition, given, further;
  patient.text(0x0010, 0x1030, "DS", "74");
  acquisition.text(0x0018, 0x9701, "DT", s.corrected_to);
  acquisition.text(0x0018, 0x9758, "CS", s.decay_corrected);
  acquisition.text(0x0018, 0x9759, "CS", s.attenuation_corrected);
  given.text(0x0018, 0x1074, "DS", s.dose);
  given.text(0x0018, 0x1075, "DS", "3600");
  given.text(0x0018, 0x1078, "DT", "20240131100000");
  further.sequence(0x0054, 0x0016, {given.bytes()});
  EnhancedSpec file{.sop_class = "1.2.840.10008.5.1.4.1.1.130",
                    .modality = "PT",
                    .more_shared = mappings_group(s.mappings),
                    .of_patient = patient.bytes(),
                    .of_acquisition = acquisition.bytes(),
                    .further = further.bytes(),
                    .is_signed = 0};
  for (int i = 0; i < 2; ++i)  // the slope of 7 is to a unit of the maker, which real world values come before
    file.frames.push_back({.position = {{0, 0, 3.0 * i}},
                           .slope = "7",
                           .intercept = "0",
                           .more = i == 1 ? mappings_group(s.of_second_frame) : ""});
  return enhanced_bytes(file, {0, 5, 10, 20, 0, 10, 20, 40});
}

/// A folder that holds one enhanced PET.
struct EnhancedPet {
  explicit EnhancedPet(const EnhancedPetSpec& spec) { write_bytes(dir.path() / "pet.dcm", enhanced_pet_bytes(spec)); }
  VolumeInfo info() const { return read_volume_info(dir.path()); }
  std::vector<float> values() const {
    const Volume volume = read_image(dir.path());
    const auto* v = volume.voxels.as<float>();
    return {v, v + 8};
  }
  ScratchFolder dir;
};

TEST(EnhancedPet, IsReadInSuvByTheDoseInMegabecquerels) {
  const EnhancedPet pet({});
  EXPECT_EQ(pet.info().unit, "SUV by body weight (g/ml)");
  EXPECT_EQ(pet.info().warning, "");
  // 185 MBq are left after a half-life: 74000 g / 185e6 Bq = 4e-4 g/Bq
  EXPECT_THAT(pet.values(), ElementsAre(0, FloatNear(2, 1e-6F), FloatNear(4, 1e-6F), FloatNear(8, 1e-6F), 0,
                                        FloatNear(4, 1e-6F), FloatNear(8, 1e-6F), FloatNear(16, 1e-6F)));
}

TEST(EnhancedPet, DecayCorrectedToTheInjectionTakesTheWholeDose) {
  EXPECT_THAT(EnhancedPet({.corrected_to = "20240131100000"}).values()[1], FloatNear(1, 1e-6F));
}

TEST(EnhancedPet, AMappingIntoSuvComesBeforeOneIntoActivity) {
  const EnhancedPet pet({.mappings = {{"Bq/ml", 1000}, {"g/ml{SUVbw}", 0.5, 0.25}}, .dose = ""});
  EXPECT_EQ(pet.info().unit, "SUV by body weight (g/ml)");
  EXPECT_THAT(pet.values(), ElementsAre(0.25F, 2.75F, 5.25F, 10.25F, 0.25F, 5.25F, 10.25F, 20.25F));
}

TEST(EnhancedPet, AFrameHasFactorsOfItsOwn) {
  const EnhancedPet pet({.of_second_frame = {{"Bq/ml", 2000}}});
  EXPECT_EQ(pet.info().warning, "");
  EXPECT_THAT(pet.values()[7], FloatNear(32, 1e-5F));
}

TEST(EnhancedPet, WhatItLacksIsNamedAndItsValuesStay) {
  const auto lacks = [](const EnhancedPetSpec& spec) {
    const std::string text = EnhancedPet(spec).info().warning;
    return text.substr(std::min(text.find("lacks ") + 6, text.size()));
  };
  EXPECT_EQ(lacks({.dose = ""}), "RadionuclideTotalDose in Bq");
  EXPECT_EQ(lacks({.attenuation_corrected = "NO"}), "CorrectedImage with ATTN and DECY");
  EXPECT_EQ(lacks({.decay_corrected = "NO"}), "CorrectedImage with ATTN and DECY, DecayCorrection START or ADMIN");
  EXPECT_EQ(lacks({.corrected_to = ""}), "SeriesDate and SeriesTime");
  EXPECT_EQ(lacks({.mappings = {{"g/ml{SUVlbm}", 1}}}), "SUVType BW");
  EXPECT_EQ(lacks({.mappings = {{"{counts}", 1}}}), "Units BQML or GML");
  EXPECT_EQ(lacks({.of_second_frame = {{"g/ml{SUVbw}", 1}}}), "Units BQML or GML");
  EXPECT_EQ(lacks({.mappings = {}}), "Units BQML or GML");
  EXPECT_EQ(EnhancedPet({.mappings = {}}).values()[1], 35) << "the maker's own rescaling";
  EXPECT_EQ(EnhancedPet({.dose = ""}).values()[1], 5000) << "Bq/ml";
  EXPECT_EQ(EnhancedPet({.dose = ""}).info().unit, "Bq/ml");
}

}  // namespace
}  // namespace voxshard
