// Facts of a data set written by hand, for the tests of rules: a dozen cases with three classes that hardly differ.
//
//   CheckedSet set = usual_set();
//   set.cases[4].classes[1].volume_ml = 419;
//   EXPECT_EQ(codes_of(set, "case_4"), (std::vector<std::string>{"W_VOLUME"}));
#pragma once

#include <string>
#include <vector>

#include "pipelines/tasks/segmentation/checks/check_rules.h"

namespace voxshard {

inline constexpr std::size_t kUsualCases = 12;

inline Geometry usual_grid() { return {.size = {40, 50, 60}, .origin = {-40, -50, 0}, .spacing = {2, 2, 3}}; }

/// Class 1 is the left kidney, 2 the right one, 3 the heart above and before them. Case i differs from the others by
/// some millimetres, millilitres and HU.
inline CheckedSet usual_set() {
  CheckedSet set{.class_names = {"background", "kidney_left", "kidney_right", "heart"}, .is_ct = true};
  for (std::size_t i = 0; i < kUsualCases; ++i) {
    const std::string id = "case_" + std::to_string(i);
    const double off = static_cast<double>(i % 5) - 2, other = static_cast<double>(i % 3) - 1;
    CaseFacts facts{.id = id, .part = "training"};
    facts.images = {{id + "_0000.nii.gz", usual_grid()}};
    facts.label = GridFacts{id + ".nii.gz", usual_grid()};
    facts.label_is_read = true;
    facts.classes[1] = {5000, 150 + 5 * off, {60 + off, 40 + other, 100 + 3 * off}, 30 + other, 35 + 4 * off};
    facts.classes[2] = {5000, 145 + 4 * other, {-60 + other, 42 - off, 95 + 3 * off}, 29 + other, 33 + 3 * other};
    facts.classes[3] = {20000, 600 + 20 * other, {5 + off, -40 + off, 250 + 5 * other}, 50 + other, 60 + 5 * off};
    facts.hu = HuRange{-1000, 2000};
    facts.fit = BorderFit{.contrast = 2 + 0.1 * off, .best_contrast = 2 + 0.1 * off, .faces = 1000};
    facts.image_hashes = {"image " + id};
    facts.label_hash = "label " + id;
    set.cases.push_back(facts);
  }
  return set;
}

inline std::vector<std::string> codes_of(const CheckedSet& set, const std::string& id) {
  std::vector<std::string> codes;
  for (const Finding& f : apply_rules(check_rules(), set))
    if (f.id == id) codes.push_back(f.code);
  return codes;
}

/// Returns the finding of a case with this code; an empty one when there is none.
inline Finding finding_of(const CheckedSet& set, const std::string& id, const std::string& code) {
  for (const Finding& f : apply_rules(check_rules(), set))
    if (f.id == id && f.code == code) return f;
  return {};
}

}  // namespace voxshard
