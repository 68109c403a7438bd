#include "pipelines/tasks/segmentation/checks/check_rules.h"

#include <algorithm>
#include <map>

namespace voxshard {
namespace {

constexpr const char* kExportAgain = "export the label map again on the grid of its image";
constexpr const char* kLookAtClass = "look at the case; correct its label map, or leave the case out";

}  // namespace

const std::vector<CheckRule>& check_rules() {
  using enum Picture;
  static const std::vector<CheckRule> rules = {
      {"E_SHAPE", "image and label of different sizes", kExportAgain, false, kInTheWorld, find_other_shape},
      {"E_SPACING", "image and label with voxels of different sizes", kExportAgain, false, kInTheWorld,
       find_other_spacing},
      {"E_ORIGIN", "image and label that begin at different places", kExportAgain, false, kInTheWorld,
       find_other_origin},
      {"E_DIRECTION", "image and label whose axes point elsewhere", kExportAgain, false, kInTheWorld,
       find_other_direction},
      {"E_LABELS", "labels outside of the classes", "correct the label map, or add the class to dataset.json", false,
       kOnVoxels, find_wrong_labels},
      {"W_EMPTY", "label maps without any class", "label the case, or leave it out if it should hold a class", false,
       kNone, find_empty_label},
      {"W_HU", "images whose values are no HU of a CT", "convert the image again with its rescale slope and intercept",
       true, kOnVoxels, find_no_hounsfield},
      {"W_SIDES", "left and right on the wrong sides",
       "swap the two classes, or correct the direction in both headers if the image is mirrored too", false, kOnVoxels,
       find_wrong_sides},
      {"W_SHIFT", "labels that fit their image better when they are moved",
       "move the label map, or export it again on the grid of its image", true, kOnVoxels, nullptr, find_shifts},
      {"W_FIT", "labels whose borders lie on no edges of their image",
       "is it the image of this case? Pair the files again, or leave the case out", true, kOnVoxels, nullptr,
       find_misfits},
      {"W_DOUBLE", "cases with the same image or the same label map", "keep one of the two", false, kOnVoxels, nullptr,
       find_doubles},
      {"W_PATIENT", "a patient on both sides of a split", "put all cases of the patient into one part", false, kNone,
       nullptr, find_shared_patients},
      {"W_VOLUME", "a class of an unusual volume", kLookAtClass, false, kOnVoxels, nullptr, find_odd_volumes},
      {"W_EXTENT", "a class that is unusually scattered or compact", kLookAtClass, false, kOnVoxels, nullptr,
       find_odd_extents},
      {"W_INTENSITY", "a class that is unusually bright or dark",
       "look at the case: contrast agent and metal are no faults, labels on other tissue are", true, kOnVoxels, nullptr,
       find_odd_intensities},
      {"W_PLACE", "a class at an unusual place among the others", kLookAtClass, false, kOnVoxels, nullptr,
       find_odd_places},
      {"W_ORDER", "two classes that lie the other way round than in other cases",
       "are the two classes swapped? Correct the label map", false, kOnVoxels, nullptr, find_odd_orders},
  };
  return rules;
}

std::string class_text(const CheckedSet& set, int label_class) {
  const auto k = static_cast<std::size_t>(label_class);
  const std::string number = std::to_string(label_class);
  return k < set.class_names.size() ? set.class_names[k] + " (" + number + ")" : "class " + number;
}

bool excludes(const Finding& finding) { return finding.code.starts_with("E_"); }

std::vector<Finding> apply_rules(const std::vector<CheckRule>& rules, const CheckedSet& set) {
  std::vector<Finding> found;
  std::map<std::string, std::size_t> places;  // of the cases, in their order
  for (const CaseFacts& facts : set.cases) {
    places.emplace(facts.id, places.size());
    for (const CaseFailure& p : facts.problems)
      found.push_back({.code = p.code,
                       .id = p.id,
                       .what = p.message,
                       .next = p.code.starts_with("E_") ? "export the file again, or leave the case out"
                                                        : "see what the text says was used"});
  }
  for (const CheckRule& rule : rules) {
    std::vector<Trouble> troubles;
    if (rule.of_set != nullptr) troubles = rule.of_set(set);
    for (const CaseFacts& facts : set.cases) {
      if (rule.of_case == nullptr) break;
      for (Trouble& one : rule.of_case(facts, set)) troubles.push_back(std::move(one));
    }
    for (Trouble& t : troubles)
      found.push_back({.code = rule.code,
                       .id = std::move(t.id),
                       .what = std::move(t.what),
                       .next = rule.next,
                       .classes = std::move(t.classes),
                       .other = std::move(t.other),
                       .shown = rule.picture});
  }
  const auto place = [&](const Finding& f) {
    const auto at = places.find(f.id);
    return at == places.end() ? places.size() : at->second;
  };
  std::stable_sort(found.begin(), found.end(), [&](const Finding& a, const Finding& b) { return place(a) < place(b); });
  return found;
}

}  // namespace voxshard
