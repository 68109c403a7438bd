#include "pipelines/tasks/segmentation/sides/side_rule.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "libcore/base/error.h"
#include "libcore/base/text.h"

namespace voxshard {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostUsedMarks = 3;
constexpr double kLeastOfUsualVolume = 0.1;
constexpr double kAlikeMm = 1;  // deviations that differ by less are alike

/// Returns the marks that tell where the plane lies, of those that `is_there` finds.
template <class IsThere>
std::vector<const SideMark*> used_marks(const std::vector<SideMark>& marks, const IsThere& is_there) {
  std::vector<const SideMark*> used;
  for (const SideMark& mark : marks) {
    if (mark.of == 0 ? !used.empty() : !is_there(mark)) continue;
    if (!used.empty() && mark.deviation_mm > 2 * used.front()->deviation_mm + kAlikeMm) continue;
    if (used.size() < kMostUsedMarks) used.push_back(&mark);
  }
  return used;
}

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorKind::kCheckpoint,
              std::string("[checkpoint] its ") + kTrainedClasses + " are broken: " + what + "; train anew");
}

/// Reads a number of a class of the data, or of none of them. Errors: json::exception, kCheckpoint.
int class_from(const nlohmann::json& json, const char* key, int least, int classes) {
  const auto number = json.at(key).get<std::int64_t>();
  if (!json.at(key).is_number_integer() || number < least || number >= classes)
    refuse(std::string(key) + " is no class of the data");
  return static_cast<int>(number);
}

double number_from(const nlohmann::json& json, const char* key) {
  constexpr double kMost = 1e12;  // mm^3 of a cube of 10 m
  const auto number = json.at(key).get<double>();
  if (!(std::abs(number) <= kMost)) refuse(std::string(key) + " is no usable number");
  return number;
}

SidedPair pair_from(const nlohmann::json& json, int classes) {
  SidedPair pair{.classes = {class_from(json, "left", 1, classes), class_from(json, "right", 1, classes)}, .marks = {}};
  pair.cases = json.at("cases").get<int>();
  if (!json.at("own_side_share").is_null()) pair.own_side_share = number_from(json, "own_side_share");
  const nlohmann::json& marks = json.at("marks");
  if (!marks.is_array() || marks.empty() || marks.size() > static_cast<std::size_t>(classes))
    refuse("marks are no list of one to " + std::to_string(classes));
  for (const nlohmann::json& mark : marks)
    pair.marks.push_back({.of = class_from(mark, "of", 0, classes),
                          .offset_mm = number_from(mark, "offset_mm"),
                          .deviation_mm = number_from(mark, "deviation_mm"),
                          .usual_mm3 = number_from(mark, "usual_mm3")});
  if (pair.marks.back().of != 0) refuse("the last mark is not the middle of the volume");
  return pair;
}

}  // namespace

JoinedClasses SideRule::joined() const {
  std::vector<SidePair> joined;
  for (const SidedPair& pair : pairs) joined.push_back(pair.classes);
  return {classes, std::move(joined)};
}

FoundMarks marks_of_grid(const Geometry& grid, int classes) {
  std::array<double, 3> middle{};
  for (std::size_t a = 0; a < 3; ++a) middle[a] = static_cast<double>(grid.size[a] - 1) / 2;
  return {.middle_mm = grid.world(middle)[0],
          .classes = std::vector<std::optional<ClassPlace>>(static_cast<std::size_t>(classes))};
}

double plane_mm(const std::vector<SideMark>& marks, const FoundMarks& found) {
  const auto place_of = [&](const SideMark& mark) { return found.classes.at(mark.of); };
  std::vector<double> planes;
  for (const SideMark* mark : used_marks(marks, [&](const SideMark& one) {
         const std::optional<ClassPlace> place = place_of(one);
         return place && place->volume_mm3 >= kLeastOfUsualVolume * one.usual_mm3;
       }))
    planes.push_back((mark->of == 0 ? found.middle_mm : place_of(*mark)->centre_mm) + mark->offset_mm);
  ensure(!planes.empty(), "the middle of the volume is always a mark");
  std::ranges::sort(planes);
  return (planes[(planes.size() - 1) / 2] + planes[planes.size() / 2]) / 2;
}

std::string pair_text(const SidePair& pair, const std::vector<std::string>& names) {
  return names.at(pair.left) + " and " + names.at(pair.right);
}

std::string marks_text(const SidedPair& pair, const std::vector<std::string>& names) {
  if (pair.marks.size() == 1) return "the middle of the volume";
  std::vector<std::string> classes;
  for (const SideMark* mark : used_marks(pair.marks, [](const SideMark&) { return true; }))
    classes.push_back(names.at(mark->of));
  return (classes.size() == 1 ? "the centre of " : "the centres of ") + joined(classes, ", ");
}

std::string sided_text(const SidedPair& pair, const std::vector<std::string>& names) {
  return "sides: " + pair_text(pair.classes, names) +
         " were trained as one class; label maps tell them apart by a plane across x (LPS) that is placed by " +
         marks_text(pair, names);
}

Json to_json(const SideRule& rule, const std::vector<std::string>& names) {
  const JoinedClasses joined = rule.joined();
  const std::vector<std::string> joined_names = joined.names(names);
  Json list = Json::array();
  for (int c = 0; c < joined.classes(); ++c) {
    Json one = {{"name", joined_names[c]}};
    const auto pair = std::ranges::find(rule.pairs, joined.parts(c), &SidedPair::classes);
    if (pair != rule.pairs.end()) {
      one["left"] = pair->classes.left, one["right"] = pair->classes.right;
      one["cases"] = pair->cases;
      one["own_side_share"] = pair->own_side_share ? Json(*pair->own_side_share) : Json();
      for (const SideMark& mark : pair->marks)
        one["marks"].push_back({{"of", mark.of},
                                {"offset_mm", mark.offset_mm},
                                {"deviation_mm", mark.deviation_mm},
                                {"usual_mm3", mark.usual_mm3}});
    }
    list.push_back(std::move(one));
  }
  return list;
}

SideRule side_rule_of(const nlohmann::json& preparation) {
  SideRule rule;
  if (!preparation.is_object() || !preparation.contains(kTrainedClasses)) return rule;
  try {
    const nlohmann::json& list = preparation.at(kTrainedClasses);
    rule.classes = static_cast<int>(preparation.at("class_names").size());
    if (!list.is_array() || list.size() >= static_cast<std::size_t>(rule.classes))
      refuse("they are no shorter list than that of the data");
    std::set<int> seen;
    for (const nlohmann::json& one : list) {
      if (!one.contains("left")) continue;
      rule.pairs.push_back(pair_from(one, rule.classes));
      for (const int c : {rule.pairs.back().classes.left, rule.pairs.back().classes.right})
        if (!seen.insert(c).second) refuse("class " + std::to_string(c) + " stands in them twice");
    }
    for (const SidedPair& pair : rule.pairs)
      for (const SideMark& mark : pair.marks)
        if (seen.contains(mark.of)) refuse("a mark is the centre of a joined class");
    if (list.size() + rule.pairs.size() != static_cast<std::size_t>(rule.classes))
      refuse("their number does not fit those of the data");
  } catch (const nlohmann::json::exception& e) {
    refuse(e.what());
  }
  return rule;
}

}  // namespace voxshard
