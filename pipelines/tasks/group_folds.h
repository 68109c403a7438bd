// The folds of a training: in which of them each item of a data set validates. Items of a group look alike (cases of a
// patient, clips or frames of a video, crops of an image) and stand in one fold, so that no fold trains on one and
// validates on another.
//
//   const Folds folds = folds_by_group({"film_a", "film_a", "film_b", "film_c"});     // 3 folds
//   folds.of_item[0] == folds.of_item[1];                                             // true
//   folds.validates(number_of_fold("2", folds.count), 3);                             // is item 3 held out by fold 2?
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "io/datasets/dataset.h"
#include "pipelines/engine/requests.h"

namespace voxshard {

/// The most folds of a data set; one with fewer groups has a fold for each.
inline constexpr std::int64_t kMostFolds = 5;

/// The help of {fold} of tasks whose data say otherwise what validates.
inline constexpr const char* kFoldHelp =
    "Which of 5 folds validates, 0 to 4, cut so that frames of a video and crops of a picture stand in one; all: none; "
    "default: {val}, the data's own part or {val-fraction} says what";

struct Folds {
  std::vector<std::int64_t> of_item;  // the fold in which an item validates; -1: it trains in all of them
  std::int64_t count = 0;             // 0: there are none

  bool validates(std::int64_t fold, std::size_t item) const { return of_item[item] == fold; }
};

/// Returns nnU-Net's folds of the groups, whatever the order of the items; the seed of a run has no part in them. None
/// where there are fewer than two groups.
///   groups  of each item
Folds folds_by_group(const std::vector<std::string>& groups);

/// Returns folds of groups, to which the groups of each class are dealt in turn, so that a class of two groups or more
/// has one to train on in every fold. A group of several classes is dealt with the rarest of them that two groups have;
/// of its other classes the same holds where enough groups have them.
///   classes  of each item; as many as groups
Folds folds_by_group(const std::vector<std::string>& groups, const std::vector<std::int32_t>& classes);

/// Returns the folds that a run started with, or the one division of a run without folds. A new item trains, but where
/// its group validates, and none of it trains, it validates too. Items of one name that stood on both sides train.
///   names  of the items, as splits_final.json has them; as many as groups
Folds folds_as_kept(const std::vector<std::string>& names, const std::vector<std::string>& groups,
                    const std::vector<KeptSplit>& kept);

/// Returns the folds as splits_final.json has them, each with its names sorted.
std::vector<Split> splits_of(const Folds& folds, const std::vector<std::string>& names);

/// Writes splits_final.json of a run. What it held at its start and lacks now stays listed on its side, where it
/// belongs when it comes back.
///   kept  the file as it was; empty: the run begins
void write_run_splits(const std::filesystem::path& run, std::vector<Split> splits, const std::vector<KeptSplit>& kept);

/// Throws kUsage for a fold, or "all", beside validation data that are named.
///   fold  empty: none is asked for
///   val   empty: none are named
void require_one_choice(const std::string& fold, const std::filesystem::path& val);

/// Returns the number of a fold, for "2" 2. Errors: kConfig unless it is one of `count` folds.
std::int64_t number_of_fold(const std::string& fold, std::int64_t count);

/// Throws kConfig for a fold of a set whose items are all of one group.
///   items  what they are: "clips"
void require_folds(const Folds& folds, const std::string& fold, const std::string& items);

/// Returns "fold 0 of 5: 8 of 40 pictures validate, those of each of the 10 groups in one fold". The groups are
/// mentioned where one has several items.
std::string fold_text(const Folds& folds, const std::string& fold, const std::vector<std::string>& groups,
                      const std::string& items);

}  // namespace voxshard
