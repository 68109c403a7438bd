// Splits a data set with classes into training and validation.
//
//   read_class_sets({.data = "cells"}).val.items
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "io/files/file_name.h"
#include "libcore/base/rng.h"
#include "libcore/base/text.h"
#include "pipelines/tasks/classification/dataset/class_clips.h"
#include "pipelines/tasks/crop_name.h"
#include "pipelines/tasks/group_folds.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void throw_no_set(const fs::path& path, const ClassKinds& kinds) {
  std::error_code error;
  if (!fs::exists(path, error))
    throw Error(ErrorKind::kInput, "[data] " + path.string() + ": does not exist; check the path");
  throw Error(ErrorKind::kInput,
              "[data] " + path.string() + ": is no data set of classes; expected " + expected_class_sets(kinds));
}

void require_classes(const ClassDataset& set) {
  if (set.classes.size() > kMostClasses)
    throw Error(ErrorKind::kInput, "E_LIMIT",
                "[data] " + set.source.string() + " has " + std::to_string(set.classes.size()) +
                    " classes, of at most " + std::to_string(kMostClasses) + "; train on some of them at a time");
  if (set.classes.size() >= 2) return;
  throw Error(ErrorKind::kConfig,
              "[data] " + set.source.string() + " has one class, " + shown_name(set.classes.at(0)) +
                  "; a classifier tells two or more apart: add the others, each in a folder of its own");
}

/// Leaves out training items that are also validation items.
void leave_out_held_out(ClassDataset& train, const ClassDataset& val) {
  std::set<std::pair<fs::path, std::int64_t>> held_out;
  const auto key = [](const ClassItem& item) {
    std::error_code error;
    const fs::path place = fs::canonical(item.file, error);
    return std::pair(error ? item.file : place,
                     item.scan == nullptr ? item.index : 0);  // one key for all clips of a video
  };
  if (train.pixels != nullptr && val.pixels != nullptr && train.files != val.files) return;
  for (const ClassItem& item : val.items) held_out.insert(key(item));
  std::erase_if(train.items, [&](const ClassItem& item) {
    if (!held_out.contains(key(item))) return false;
    train.failures.push_back(
        {item.name, "E_DUPLICATE", "also validates, by " + val.source.string() + "; it does not train"});
    return true;
  });
  if (train.items.empty())
    throw Error(ErrorKind::kNoCase, "[data] everything in " + train.source.string() + " also validates, by " +
                                        val.source.string() + ": nothing is left to train; give {val} other files");
}

/// Returns the group of an item. Items of a group look alike and stay together: the clips of a video, the crops of an
/// image.
std::string group_of(const ClassItem& item) {
  const auto image = item.scan == nullptr ? image_of_crop(item.file) : std::nullopt;
  return image ? "cut out of " + *image : video_of(item);
}

/// Moves the items that `is_val` picks to the validation set.
ClassSets split_by(ClassDataset dataset, const std::function<bool(const ClassItem&)>& is_val) {
  ClassSets sets;
  sets.val = dataset;
  sets.val.failures.clear();
  std::erase_if(sets.val.items, [&](const ClassItem& item) { return !is_val(item); });
  std::erase_if(dataset.items, is_val);
  sets.train = std::move(dataset);
  return sets;
}

std::vector<std::string> groups_of(const ClassDataset& set) {
  std::vector<std::string> groups;
  for (const ClassItem& item : set.items) groups.push_back(group_of(item));
  return groups;
}

/// Divides as a run did at its start.
ClassSets split_as_kept(ClassDataset dataset, const KeptSplit& kept) {
  const std::vector<std::string> names = names_of(dataset);
  const Folds folds = folds_as_kept(names, groups_of(dataset), {kept});
  std::set<std::string> held_out;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (folds.validates(0, i)) held_out.insert(names[i]);
  return split_by(std::move(dataset), [&](const ClassItem& item) { return held_out.contains(item.name); });
}

}  // namespace

std::vector<std::string> names_of(const ClassDataset& set) {
  std::vector<std::string> names;
  for (const ClassItem& item : set.items) names.push_back(item.name);
  return names;
}

void list_gone(ClassSets& sets, const KeptSplit& kept) {
  std::vector<std::string> known = names_of(sets.train);
  for (const std::string& name : names_of(sets.val)) known.push_back(name);
  for (const auto* set : {&sets.train, &sets.val})
    for (const CaseFailure& failure : set->failures) known.push_back(failure.id);
  for (CaseFailure& gone : gone_from(kept, known)) sets.train.failures.push_back(std::move(gone));
}

ClassSets split_classes(ClassDataset dataset, double val_fraction, std::uint64_t seed) {
  if (!(val_fraction >= 0 && val_fraction < 1))
    throw Error(ErrorKind::kConfig, "[data] {val-fraction} must be at least 0 and below 1");
  const RngKey key{.seed = seed, .stream = rng_stream("class_split")};
  std::map<std::string, std::set<std::int32_t>> groups;  // items that stay together, and their classes
  for (const ClassItem& item : dataset.items) groups[group_of(item)].insert(item.label);
  std::vector<std::vector<std::pair<std::uint64_t, std::string>>> lots(dataset.classes.size());
  for (const auto& [name, labels] : groups)
    for (const std::int32_t label : labels) lots[label].emplace_back(rng_bits(key, rng_stream(name)), name);
  std::vector<std::size_t> left;  // number of training groups of each class
  for (const auto& of_class : lots) left.push_back(of_class.size());
  std::set<std::string> held_out;
  for (std::size_t c = 0; c < lots.size(); ++c) {
    std::ranges::sort(lots[c]);
    const std::size_t all = lots[c].size();
    auto count = static_cast<std::size_t>(std::llround(val_fraction * static_cast<double>(all)));
    if (val_fraction > 0 && all > 1) count = std::clamp<std::size_t>(count, 1, all - 1);
    for (const auto& [bits, name] : lots[c]) {
      if (all - left[c] >= count) break;
      const auto& labels = groups[name];
      const bool last = std::ranges::any_of(labels, [&](auto l) { return left[l] < 2; });
      if (last || !held_out.insert(name).second) continue;
      for (const std::int32_t label : labels) --left[label];
    }
  }
  return split_by(std::move(dataset), [&](const ClassItem& item) { return held_out.contains(group_of(item)); });
}

ClassSets split_by_fold(ClassDataset dataset, const std::string& fold, const std::vector<KeptSplit>& kept) {
  const std::vector<std::string> names = names_of(dataset);
  const std::vector<std::string> groups = groups_of(dataset);
  std::vector<std::int32_t> labels;
  bool clips = false;
  for (const ClassItem& item : dataset.items) {
    labels.push_back(item.label);
    clips = clips || item.scan != nullptr;
  }
  const std::string items = clips ? "clips" : "items";
  const Folds folds = kept.empty() ? folds_by_group(groups, labels) : folds_as_kept(names, groups, kept);
  require_folds(folds, fold, items);
  const std::int64_t number = number_of_fold(fold, folds.count);
  std::set<std::string> held_out;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (folds.validates(number, i)) held_out.insert(names[i]);
  ClassSets sets = split_by(std::move(dataset), [&](const ClassItem& item) { return held_out.contains(item.name); });
  sets.folds = splits_of(folds, names);
  sets.said = fold_text(folds, fold, groups, items);
  return sets;
}

void leave_out_empty_classes(ClassSets& sets) {
  const auto counts = sets.train.counts();
  if (sets.train.items.empty() || std::ranges::find(counts, 0) == counts.end()) return;
  std::vector<std::int32_t> numbers;  // new number of each old class; -1: left out
  std::vector<std::string> kept;
  for (std::size_t c = 0; c < counts.size(); ++c) {
    const std::string& name = sets.train.classes[c];
    numbers.push_back(counts[c] > 0 ? static_cast<std::int32_t>(kept.size()) : -1);
    if (counts[c] > 0)
      kept.push_back(name);
    else
      sets.train.failures.push_back(
          {name, "E_EMPTY", "is a class of which nothing is left to train on; it is left out"});
  }
  const auto renumber = [&](ClassItem& item) { item.label = numbers[item.label]; };
  std::ranges::for_each(sets.train.items, renumber);
  std::erase_if(sets.val.items, [&](ClassItem& item) {
    const std::string& name = sets.val.classes[item.label];
    renumber(item);
    if (item.label < 0)
      sets.val.failures.push_back(
          {item.name, "E_CLASS", "is of the class \"" + name + "\", of which nothing is left to train on"});
    return item.label < 0;
  });
  sets.train.classes = sets.val.classes = kept;
  require_classes(sets.train);
}

ClassSets read_class_sets(const ClassSetsOptions& o) {
  require_one_choice(o.validates ? o.fold : "all", o.val);
  const ClassParts parts = find_class_parts(o.data, o.reading.kinds);
  const auto& train = parts.train ? parts.train : parts.whole;
  if (!train && parts.any()) {
    const ClassPart& other = parts.val ? *parts.val : *parts.test;
    throw Error(ErrorKind::kInput,
                "[data] " + o.data.string() + " has " +
                    (other.path == o.data ? "a part to test on" : shown_name(other.path.filename().string())) +
                    ", but no part to train on; put it beside, as " + other.kind.training_part);
  }
  if (!train) throw_no_set(o.data, o.reading.kinds);
  ClassDataset set = read_class_part(*train, o.reading);
  require_classes(set);
  if (!o.fold.empty() && o.validates) {
    ClassSets sets = split_by_fold(std::move(set), o.fold, o.kept);
    if (parts.val) sets.said += "; " + parts.val->path.string() + " neither trains nor validates";
    return sets;
  }
  std::optional<ClassPart> val = parts.val ? parts.val : parts.test;
  if (!o.val.empty()) {
    const ClassParts other = find_class_parts(o.val, o.reading.kinds);
    val = other.whole ? other.whole : other.val ? other.val : other.test ? other.test : other.train;
    if (!val) throw_no_set(o.val, o.reading.kinds);
  }
  ClassSets sets;
  if (!o.validates) {
    sets.val = {.source = set.source, .kind = set.kind, .classes = set.classes};
  } else if (val) {
    sets.val = read_class_part(*val, o.reading, &set.classes);
    sets.val_is_test = o.val.empty() && !parts.val;
    leave_out_held_out(set, sets.val);
  } else if (!o.kept.empty()) {
    return split_as_kept(std::move(set), o.kept.front());
  } else {
    return split_classes(std::move(set), o.val_fraction, o.seed);
  }
  sets.train = std::move(set);
  return sets;
}

ClassPart unseen_part(const fs::path& path, const ClassKinds& kinds) {
  const ClassParts parts = find_class_parts(path, kinds);
  if (!parts.any()) throw_no_set(path, kinds);
  for (const auto* part : {&parts.test, &parts.val, &parts.whole})
    if (*part) return **part;
  return *parts.train;
}

ClassDataset read_unseen_classes(const fs::path& path, const ClassReading& reading,
                                 const std::vector<std::string>* classes) {
  return read_class_part(unseen_part(path, reading.kinds), reading, classes);
}

}  // namespace voxshard
