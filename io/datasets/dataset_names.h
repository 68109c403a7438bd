// The names of channels and classes in a dataset.json, by their numbers.
//
//   d.channels = channels_of(root.at("channel_names"), file);      // {"CT", "PET"}
//   read_label_names(root, file, d);                               // d.label_names[2] is "spleen"
//
// Called by dataset.cc.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "io/datasets/dataset.h"

namespace voxshard {

/// Throws kInput: the file is no description of a data set, because of `what`.
[[noreturn]] void refuse_dataset(const std::filesystem::path& file, const std::string& what);

/// Returns the channels of {"0": "CT", "1": "PET"} in their order. Errors: kInput for numbers with gaps, names that are
/// no plain texts, and more than kMostChannels; json::exception for other forms.
std::vector<std::string> channels_of(const nlohmann::json& object, const std::filesystem::path& file);

/// Sets label_names, regions and ignore_label from the "labels" of nnU-Net v2, {"liver": 1}, or where there are no
/// "channel_names" of v1 and the Decathlon, {"1": "liver"}. Errors: as channels_of; kInput for a background that is not
/// 0, a label for voxels that nobody annotated that is not the last one, and regions as take_regions.
void read_label_names(const nlohmann::json& root, const std::filesystem::path& file, Dataset& d);

}  // namespace voxshard
