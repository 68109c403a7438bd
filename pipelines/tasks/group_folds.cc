#include "pipelines/tasks/group_folds.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

namespace voxshard {
namespace {

constexpr std::uint32_t kFoldSeed = 12345;  // nnU-Net's

std::vector<std::string> distinct(const std::vector<std::string>& groups) {
  const std::set<std::string> names(groups.begin(), groups.end());
  return {names.begin(), names.end()};
}

Folds folds_from(const std::vector<std::string>& groups, const std::map<std::string, std::int64_t>& of_group,
                 std::int64_t count) {
  Folds folds{.of_item = {}, .count = count};
  for (const std::string& group : groups) folds.of_item.push_back(of_group.at(group));
  return folds;
}

/// Returns for each group that of its classes which the fewest groups have, but two at least where there is one: a
/// class of a single group lacks it in one fold wherever that is.
std::map<std::string, std::int32_t> rarest_classes(const std::vector<std::string>& groups,
                                                   const std::vector<std::int32_t>& classes) {
  std::map<std::string, std::set<std::int32_t>> classes_of;
  std::map<std::int32_t, std::set<std::string>> groups_of;
  for (std::size_t i = 0; i < groups.size(); ++i)
    classes_of[groups[i]].insert(classes[i]), groups_of[classes[i]].insert(groups[i]);
  std::map<std::string, std::int32_t> rarest;
  for (const auto& [group, own] : classes_of)
    rarest[group] = *std::ranges::min_element(own, {}, [&](std::int32_t one) {
      const std::size_t count = groups_of.at(one).size();
      return std::pair(count < 2, count);
    });
  return rarest;
}

}  // namespace

Folds folds_by_group(const std::vector<std::string>& groups) {
  const std::vector<std::string> units = distinct(groups);
  if (units.size() < 2) return {.of_item = std::vector<std::int64_t>(groups.size(), -1), .count = 0};
  const std::int64_t count = std::min<std::int64_t>(kMostFolds, std::ssize(units));
  const std::vector<Split> splits = make_splits(units, static_cast<int>(count), kFoldSeed);
  std::map<std::string, std::int64_t> of_group;
  for (std::size_t f = 0; f < splits.size(); ++f)
    for (const std::string& unit : splits[f].val) of_group[unit] = static_cast<std::int64_t>(f);
  return folds_from(groups, of_group, count);
}

Folds folds_by_group(const std::vector<std::string>& groups, const std::vector<std::int32_t>& classes) {
  const std::vector<std::string> units = distinct(groups);
  if (units.size() < 2) return folds_by_group(groups);
  const std::map<std::string, std::int32_t> class_of = rarest_classes(groups, classes);
  std::vector<std::size_t> order = numpy_permutation(units.size(), kFoldSeed);
  std::ranges::stable_sort(order, {}, [&](std::size_t unit) { return class_of.at(units[unit]); });
  const std::int64_t count = std::min<std::int64_t>(kMostFolds, std::ssize(units));
  std::map<std::string, std::int64_t> of_group;
  for (std::size_t i = 0; i < order.size(); ++i) of_group[units[order[i]]] = static_cast<std::int64_t>(i) % count;
  return folds_from(groups, of_group, count);
}

Folds folds_as_kept(const std::vector<std::string>& names, const std::vector<std::string>& groups,
                    const std::vector<KeptSplit>& kept) {
  Folds folds{.of_item = {}, .count = std::ssize(kept)};
  std::map<std::string, std::int64_t> of_group;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto held = std::ranges::find_if(kept, [&](const KeptSplit& one) { return one.validates(names[i]); });
    folds.of_item.push_back(held == kept.end() ? -1 : held - kept.begin());
    if (held != kept.end()) of_group.emplace(groups[i], folds.of_item.back());
  }
  for (std::size_t i = 0; i < names.size(); ++i)  // frames of one video may stand on both sides
    if (const auto group = of_group.find(groups[i]);
        group != of_group.end() && kept[group->second].train.contains(names[i]))
      of_group.erase(group);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto group = of_group.find(groups[i]);
    const bool is_new = std::ranges::none_of(kept, [&](const KeptSplit& one) { return one.holds(names[i]); });
    if (is_new && group != of_group.end()) folds.of_item[i] = group->second;
  }
  return folds;
}

std::vector<Split> splits_of(const Folds& folds, const std::vector<std::string>& names) {
  std::vector<Split> splits(static_cast<std::size_t>(folds.count));
  for (std::int64_t f = 0; f < folds.count; ++f) {
    Split& one = splits[f];
    for (std::size_t i = 0; i < names.size(); ++i) (folds.validates(f, i) ? one.val : one.train).push_back(names[i]);
    std::ranges::sort(one.train);
    std::ranges::sort(one.val);
  }
  return splits;
}

void write_run_splits(const std::filesystem::path& run, std::vector<Split> splits, const std::vector<KeptSplit>& kept) {
  for (std::size_t f = 0; f < std::min(splits.size(), kept.size()); ++f) {
    std::set<std::string> now(splits[f].train.begin(), splits[f].train.end());
    now.insert(splits[f].val.begin(), splits[f].val.end());
    const auto add_gone = [&](const std::set<std::string>& before, std::vector<std::string>& names) {
      std::ranges::copy_if(before, std::back_inserter(names),
                           [&](const std::string& name) { return !now.contains(name); });
    };
    add_gone(kept[f].train, splits[f].train), add_gone(kept[f].val, splits[f].val);
  }
  write_splits(run / "splits_final.json", splits);
}

void require_one_choice(const std::string& fold, const std::filesystem::path& val) {
  if (fold.empty() || val.empty()) return;
  throw Error(ErrorKind::kUsage,
              "[train] {fold} " + fold + " and {val} " + val.string() + " both say what validates; give one of them");
}

std::int64_t number_of_fold(const std::string& fold, std::int64_t count) {
  for (std::int64_t f = 0; f < count; ++f)
    if (fold == std::to_string(f)) return f;
  throw Error(ErrorKind::kConfig,
              "[train] {fold} is \"" + fold + "\"; expected 0 to " + std::to_string(count - 1) + " or all");
}

void require_folds(const Folds& folds, const std::string& fold, const std::string& items) {
  if (folds.count > 0) return;
  throw Error(ErrorKind::kConfig, "[train] {fold} " + fold + ": all " + items +
                                      " are of one source and would stand on both sides of a fold; leave {fold} out, "
                                      "or name what validates by {val}");
}

std::string fold_text(const Folds& folds, const std::string& fold, const std::vector<std::string>& groups,
                      const std::string& items) {
  const auto held = std::ranges::count(folds.of_item, number_of_fold(fold, folds.count));
  const std::size_t units = distinct(groups).size();
  return "fold " + fold + " of " + std::to_string(folds.count) + ": " + std::to_string(held) + " of " +
         std::to_string(groups.size()) + " " + items + " validate" +
         (units == groups.size() ? "" : ", those of each of the " + std::to_string(units) + " groups in one fold");
}

}  // namespace voxshard
