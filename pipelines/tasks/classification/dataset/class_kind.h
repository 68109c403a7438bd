// The kinds of data sets that classifiers learn from: a folder per class, a CSV list, MNIST's IDX files. A kind is a
// file of its own and a row of a table that is handed in; without one, all that this build knows.
//
//   ClassParts parts = find_class_parts("cells");
//   parts.train->path;                               // "cells/train"
//   parts.train->kind.name;                          // "folders"
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "io/datasets/class_list.h"
#include "pipelines/model_runs/report.h"

namespace voxshard {

struct ClassDataset;
struct ClassParts;
struct ClassPart;
struct ClassReading;

/// An item before its file was looked at.
struct ClassEntry {
  std::string name, class_name;
  std::filesystem::path file;
  std::optional<ClassInterval> interval = {};
};

struct ClassEntries {
  std::vector<ClassEntry> list;
  std::set<std::string> classes;  // that are named, with or without an item
};

/// One kind: a file of its own and a row in the table. Its items are files, which `entries` names, or lie in files that
/// hold many, which `read` reads.
struct ClassKind {
  const char* name;              // "IDX": in JSON and for people
  const char* expected;          // for people, in a list: "MNIST's IDX files"
  const char* help;              // the same where training asks for it: "a folder with MNIST's IDX files"
  const char* folder = nullptr;  // and among the folders that info knows: "MNIST"; null: it is no folder
  /// The parts at a path; none for what is no such data set. Errors: kInput for one without its labels.
  ClassParts (*find)(const std::filesystem::path& path);

  /// The files that a part names, and their classes; what the part says wrongly joins `failures`. Errors: kInput.
  ClassEntries (*entries)(const ClassPart& part, const ClassReading& reading,
                          std::vector<CaseFailure>& failures) = nullptr;
  bool has_times = false;  // an entry may be an interval of its video
  /// Calls `body` with every file that a part may name.
  void (*each_file)(const ClassPart& part, const std::function<void(const std::filesystem::path&)>& body) = nullptr;

  /// Adds the images that a part holds: `pixels`, `files`, an item for each, and the classes, or those of `classes`.
  /// Errors: kInput; kBudget before anything is read.
  void (*read)(const ClassPart& part, const ClassReading& reading, const std::vector<std::string>* classes,
               ClassDataset& set) = nullptr;
  /// Returns the bytes that `read` keeps in memory, from the headers alone. Errors: kInput.
  double (*held_bytes)(const ClassPart& part) = nullptr;

  const char* usual_model = nullptr;  // to train on it; null: by what the items are
  const char* usual_batch = nullptr;
};

/// In the order in which people read them; the last that finds parts at a path has it.
using ClassKinds = std::vector<ClassKind>;
/// All that this build knows.
const ClassKinds& class_kinds();

ClassKind folders_kind();
ClassKind list_kind();
ClassKind idx_kind();

/// Where a part of a data set lies: a folder with a folder per class, a CSV list, or one half of IDX files.
struct ClassPart {
  ClassKind kind;
  std::filesystem::path path;
  bool is_test = false;  // of a path that holds both parts
};
struct ClassParts {
  std::optional<ClassPart> whole;             // not divided
  std::optional<ClassPart> train, val, test;  // divided
  bool any() const { return whole || train || val || test; }
};

/// Reads
///   FILE.csv   rows "file,class", files below the list's folder; of videos also "file,start,end,class"
///   FOLDER     with train-images-idx3-ubyte[.gz] and its like (t10k-… tests), or with train, val (valid, validation)
///   and
///              test as folders or CSV lists, or with a folder per class of images, volumes or videos; where all
///              folders are called val or test, train is what is missing
/// Nothing (any() is false) for what is none of these, data sets of segmentation and detection among them. Errors:
/// kInput for IDX images without labels.
ClassParts find_class_parts(const std::filesystem::path& path, const ClassKinds& kinds = class_kinds());

/// "a folder per class with images, ..., a CSV of file,class, or MNIST's IDX files".
std::string expected_class_sets(const ClassKinds& kinds = class_kinds());
/// The same of their `help`.
std::string class_sets_help(const ClassKinds& kinds = class_kinds());
/// "a folder per class, MNIST".
std::string class_folders(const ClassKinds& kinds = class_kinds());

}  // namespace voxshard
