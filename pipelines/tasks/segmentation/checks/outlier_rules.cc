// The rules that judge each class of a case by the other cases: its volume, extent, mean HU, place and order.
//
//   find_odd_volumes(set)      // SpinalCord (2) has 419 ml; usual in the other cases: 16.2 ml
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "libcore/base/text.h"
#include "pipelines/tasks/segmentation/checks/check_rules.h"
#include "pipelines/tasks/segmentation/quality/label_facts.h"
#include "pipelines/tasks/segmentation/quality/leave_one_out.h"

namespace voxshard {
namespace {

/// Each class is placed by at most this many others, those in the most cases: the work stays bounded.
constexpr std::size_t kMostCompanions = 32;
/// Cases of the others that may lie the other way round too, being wrong themselves.
constexpr double kMostReversedShare = 0.05;
/// Two classes have a usual order when their usual offset is at least so many deviations of the offsets.
constexpr double kLeastOrder = 2;

/// One number of a class in a case; none when it is unknown.
using Measure = std::function<std::optional<double>(const ClassFacts&)>;

/// A number of one case, and how many deviations it lies from the others.
struct Scored {
  const CaseFacts* facts = nullptr;
  double value = 0, score = 0, usual = 0;
};

/// Judges the values of the cases by one another.
std::vector<Scored> scored(std::vector<Scored> values, double floor) {
  std::vector<double> numbers;
  for (const Scored& one : values) numbers.push_back(one.value);
  const LeaveOneOut all(std::move(numbers));
  if (all.others() < kFewestOthers) return {};
  for (Scored& one : values) one.score = *all.score(one.value, floor), one.usual = all.median_without(one.value);
  return values;
}

/// Returns the classes by the number of cases in which they occur, the most frequent first.
std::vector<int> classes_of(const CheckedSet& set) {
  std::map<int, std::int64_t> cases;
  for (const CaseFacts& facts : set.cases)
    for (const auto& [label_class, one] : facts.classes) ++cases[label_class];
  std::vector<int> classes;
  for (const auto& [label_class, count] : cases)
    if (count > static_cast<std::int64_t>(kFewestOthers)) classes.push_back(label_class);
  std::stable_sort(classes.begin(), classes.end(), [&](int a, int b) { return cases[a] > cases[b]; });
  return classes;
}

/// Returns a trouble for each class of a case whose measure lies beyond kMostScore.
///   text  says what the class has, from its value and the usual one
std::vector<Trouble> find_odd(const CheckedSet& set, const Measure& measure, double floor,
                              const std::function<std::string(double value, double usual)>& text) {
  std::vector<Trouble> found;
  for (const int label_class : classes_of(set)) {
    std::vector<Scored> values;
    for (const CaseFacts& facts : set.cases)
      if (const auto at = facts.classes.find(label_class); at != facts.classes.end())
        if (const auto value = measure(at->second)) values.push_back({&facts, *value});
    for (const Scored& one : scored(std::move(values), floor))
      if (std::abs(one.score) > kMostScore)
        found.push_back(
            {one.facts->id, class_text(set, label_class) + " " + text(one.value, one.usual), {label_class}});
  }
  return found;
}

std::string beside_usual(double value, double usual, const std::string& unit) {
  return fixed_text(value, 1) + " " + unit + "; usual in the other cases: " + fixed_text(usual, 1) + " " + unit;
}

/// Returns the offsets along an axis from the centre of `b` to that of `a`, of all cases that have both.
std::vector<Scored> offsets(const CheckedSet& set, int a, int b, std::size_t axis) {
  std::vector<Scored> values;
  for (const CaseFacts& facts : set.cases) {
    const auto of_a = facts.classes.find(a), of_b = facts.classes.find(b);
    if (of_a != facts.classes.end() && of_b != facts.classes.end())
      values.push_back({&facts, of_a->second.centre_mm[axis] - of_b->second.centre_mm[axis]});
  }
  return values;
}

/// Returns the middle one by score, of two the one nearer to zero: at least half of the companions go as far.
Scored middle_of(std::vector<Scored> votes) {
  std::sort(votes.begin(), votes.end(), [](const Scored& a, const Scored& b) { return a.score < b.score; });
  const Scored &low = votes[(votes.size() - 1) / 2], &high = votes[votes.size() / 2];
  return std::abs(low.score) < std::abs(high.score) ? low : high;
}

/// Adds a trouble for each case where the median of the scores by the companions lies beyond kMostScore.
void find_odd_place(const CheckedSet& set, int label_class, const std::vector<int>& companions,
                    std::vector<Trouble>& found) {
  std::map<const CaseFacts*, std::string> odd;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    std::map<const CaseFacts*, std::vector<Scored>> votes;
    for (const int other : companions)
      if (other != label_class)
        for (const Scored& one : scored(offsets(set, label_class, other, axis), kPlaceFloorMm))
          votes[one.facts].push_back(one);
    for (const auto& [facts, scores] : votes) {
      if (scores.size() < 2) continue;  // of two classes alone nobody knows which one is displaced
      const Scored middle = middle_of(scores);
      if (std::abs(middle.score) <= kMostScore) continue;
      const double off_mm = middle.value - middle.usual;
      std::string& text = odd[facts];
      text += (text.empty() ? "" : " and ") + fixed_text(std::abs(off_mm), 0) + " mm " + kPlaceWords[axis][off_mm > 0];
    }
  }
  for (const CaseFacts& facts : set.cases)
    if (const auto at = odd.find(&facts); at != odd.end())
      found.push_back(
          {facts.id,
           class_text(set, label_class) + " lies " + at->second + " its usual place among the other classes",
           {label_class}});
}

/// The axis along which a pair of classes is reversed the furthest.
struct Reversal {
  double offset_mm = 0, usual_mm = 0;
  std::size_t axis = 0;
};

/// Returns the cases in which `a` and `b` lie the other way round than in nearly all others, by more than the floor.
std::map<const CaseFacts*, Reversal> reversals(const CheckedSet& set, int a, int b) {
  std::map<const CaseFacts*, Reversal> found;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::vector<Scored> values = scored(offsets(set, a, b, axis), kPlaceFloorMm);
    const auto positive = std::count_if(values.begin(), values.end(), [](const Scored& v) { return v.value > 0; });
    for (const Scored& one : values) {
      const bool above = one.value > 0;
      const auto alike = (above ? positive : std::ssize(values) - positive) - 1;
      const double most = kMostReversedShare * static_cast<double>(values.size() - 1);
      if (static_cast<double>(alike) > most || std::abs(one.value) <= kPlaceFloorMm) continue;
      const double deviation = std::abs((one.value - one.usual) / one.score);
      if (std::abs(one.usual) < kLeastOrder * deviation) continue;
      Reversal& furthest = found[one.facts];
      if (std::abs(one.value) > std::abs(furthest.offset_mm)) furthest = {one.value, one.usual, axis};
    }
  }
  return found;
}

}  // namespace

std::vector<Trouble> find_odd_volumes(const CheckedSet& set) {
  return find_odd(
      set, [](const ClassFacts& facts) { return std::log(facts.volume_ml); }, kLogVolumeFloor,
      [](double value, double usual) { return "has " + beside_usual(std::exp(value), std::exp(usual), "ml"); });
}

std::vector<Trouble> find_odd_extents(const CheckedSet& set) {
  return find_odd(
      set,
      [](const ClassFacts& facts) {
        return facts.spread_mm > 0 ? std::optional(std::log(facts.spread_mm)) : std::nullopt;
      },
      kLogSpreadFloor,
      [](double value, double usual) {
        return "spreads " + beside_usual(std::exp(value), std::exp(usual), "mm") +
               " (root mean square from its centre)";
      });
}

std::vector<Trouble> find_odd_intensities(const CheckedSet& set) {
  if (!set.is_ct) return {};
  return find_odd(
      set, [](const ClassFacts& facts) { return facts.mean_hu; }, kMeanHuFloor,
      [](double value, double usual) { return "has a mean of " + beside_usual(value, usual, "HU"); });
}

std::vector<Trouble> find_odd_places(const CheckedSet& set) {
  const std::vector<int> classes = classes_of(set);
  std::vector<int> companions = classes;
  if (companions.size() > kMostCompanions) companions.resize(kMostCompanions);
  std::vector<Trouble> found;
  for (const int label_class : classes) find_odd_place(set, label_class, companions, found);
  return found;
}

std::vector<Trouble> find_odd_orders(const CheckedSet& set) {
  std::vector<int> classes = classes_of(set);
  if (classes.size() > kMostCompanions) classes.resize(kMostCompanions);
  std::vector<Trouble> found;
  for (std::size_t i = 0; i < classes.size(); ++i)
    for (std::size_t j = i + 1; j < classes.size(); ++j) {
      const int a = classes[i], b = classes[j];
      const auto reversed = reversals(set, a, b);
      for (const CaseFacts& facts : set.cases) {
        const auto at = reversed.find(&facts);
        if (at == reversed.end()) continue;
        const Reversal& r = at->second;
        found.push_back({facts.id,
                         class_text(set, a) + " lies " + fixed_text(std::abs(r.offset_mm), 0) + " mm " +
                             kPlaceWords[r.axis][r.offset_mm > 0] + " " + class_text(set, b) +
                             "; usual in the other cases: " + fixed_text(std::abs(r.usual_mm), 0) + " mm " +
                             kPlaceWords[r.axis][r.usual_mm > 0] + " it",
                         {a, b}});
      }
    }
  return found;
}

}  // namespace voxshard
