// Regions of nnU-Net v2: names in dataset.json that stand for several labels at once.
//
//   "labels": {"background": 0, "whole_tumor": [1, 2, 3], "tumor_core": [2, 3], "enhancing": 3},
//   "regions_class_order": [1, 2, 3]
//
// The classes are the labels themselves, 0 to the highest; a region is the union of its labels.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "io/datasets/dataset.h"

namespace voxshard {

/// True when one of the labels is a list.
bool has_regions(const nlohmann::json& labels);

/// Sets d.regions, the largest first, from the content of dataset.json, and returns the names of the classes by number:
/// that of the region of this one label, else "class_2". Requires: has_regions(). Errors: kInput for lists that are
/// empty, too long or hold something else than labels from 1, for a name that is no plain text, and for a missing
/// regions_class_order.
std::map<int, std::string> take_regions(const nlohmann::json& root, const std::filesystem::path& file, Dataset& d);

/// Sorts regions, the largest first; of equally large ones the order stays.
void sort_regions(std::vector<LabelRegion>& regions);

/// Writes labels and regions_class_order of a set with regions. nnU-Net paints the regions in this order, each as the
/// lowest of its labels that no later region has.
void add_regions(const Dataset& d, nlohmann::ordered_json& root);

}  // namespace voxshard
