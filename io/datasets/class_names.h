// The names of classes from a file, without a look at the cases that it is about: a dataset.json of nnU-Net or the
// Decathlon, or the classes.json that `predict` writes beside its label maps.
//
//   read_class_names("Dataset001/dataset.json")[1]       // "liver"
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "io/datasets/dataset.h"

namespace voxshard {

/// The file of names in a folder of predicted label maps.
inline constexpr const char* kClassNamesFile = "classes.json";

/// What such a file says of the labels.
struct NamedClasses {
  std::vector<std::string> names;  // by class; [0] is the background
  std::optional<int> ignore_label;
  std::vector<LabelRegion> regions;
};

/// Errors: kInput for a file that is missing or no such description.
NamedClasses read_named_classes(const std::filesystem::path& file);
/// Returns the names alone. Errors: as read_named_classes.
std::vector<std::string> read_class_names(const std::filesystem::path& file);

/// Writes {"labels": {"background": 0, "liver": 1}}, in the form of nnU-Net. Errors: kOutput.
void write_class_names(const std::filesystem::path& file, const std::vector<std::string>& names);

}  // namespace voxshard
