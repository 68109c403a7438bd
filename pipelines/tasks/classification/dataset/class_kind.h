// The kinds of data sets for classifiers: a folder per class of files or of DICOM series, a CSV list, MNIST's IDX
// files. A kind is a file of its own and a row of a table; functions take the table as an argument, which defaults to
// all kinds of this build.
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

/// An item as listed, before its file is read.
struct ClassEntry {
  std::string name, class_name;
  std::filesystem::path file;
  std::optional<ClassInterval> interval = {};
};

struct ClassEntries {
  std::vector<ClassEntry> list;
  std::set<std::string> classes;  // all classes that are named, with or without an item
  std::vector<std::string> notes = {};
};

/// One kind: a file of its own and a row in the table. Its items are files, which `entries` lists, or lie in files with
/// many items, which `read` reads.
struct ClassKind {
  const char* name;              // "IDX": in JSON and messages
  const char* expected;          // in messages that list the kinds: "MNIST's IDX files"
  const char* help;              // in the help of training: "a folder with MNIST's IDX files"
  const char* folder = nullptr;  // in the list of folders that info recognises: "MNIST"; null: it is no folder
  /// Returns the parts at a path; none when it is no such data set. Errors: kInput for a data set without its labels.
  ClassParts (*find)(const std::filesystem::path& path);

  /// Returns the files that a part names, and their classes; invalid entries are added to `failures`. Errors: kInput.
  ClassEntries (*entries)(const ClassPart& part, const ClassReading& reading,
                          std::vector<CaseFailure>& failures) = nullptr;
  bool has_times = false;  // true: an entry may be an interval of its video
  /// Calls `body` with every file that a part may name.
  void (*each_file)(const ClassPart& part, const std::function<void(const std::filesystem::path&)>& body) = nullptr;

  /// Adds the images of a part to `set`: `pixels`, `files`, an item for each, and the classes that occur, or `classes`.
  /// Errors: kInput; kBudget before anything is read.
  void (*read)(const ClassPart& part, const ClassReading& reading, const std::vector<std::string>* classes,
               ClassDataset& set) = nullptr;
  /// Returns the bytes that `read` keeps in memory, from the headers alone. Errors: kInput.
  double (*held_bytes)(const ClassPart& part) = nullptr;

  /// True: a tree of studies looks the same, so that only commands find it that were given a data set of classes.
  bool looks_like_studies = false;

  const char* training_part = "the folder train";  // what a data set without its training part lacks
  const char* usual_model = nullptr;  // default model for training on it; null: chosen by the kind of items
  const char* usual_batch = nullptr;
};

/// A table of kinds, in the order shown to people; the last kind that finds parts at a path reads it.
using ClassKinds = std::vector<ClassKind>;
/// Returns all kinds of this build.
const ClassKinds& class_kinds();
/// Returns those of `kinds` that are told from all other data.
ClassKinds recognised_kinds(const ClassKinds& kinds);
/// True when a folder is another kind of data set, by the names of files in it or by boxes of any format.
bool is_other_set(const std::filesystem::path& folder);

ClassKind series_kind();
ClassKind folders_kind();
ClassKind list_kind();
ClassKind idx_kind();

/// A part of a data set: a folder with a folder per class, a CSV list, or the training or test half of IDX files.
struct ClassPart {
  ClassKind kind;
  std::filesystem::path path;
  bool is_test = false;  // true: the test part of a path that holds both parts
};
struct ClassParts {
  std::optional<ClassPart> whole;             // not divided
  std::optional<ClassPart> train, val, test;  // divided
  bool any() const { return whole || train || val || test; }
};

/// A kind whose classes are folders.
struct ClassTree {
  ClassKind (*kind)();
  bool (*is_tree)(const std::filesystem::path& folder);      // true: there are folders of classes in it
  bool (*holds_items)(const std::filesystem::path& folder);  // true: there is an item in it or below
  bool or_lists = false;                                     // a part may be a CSV list instead: train.csv
};
/// Returns the parts in a folder by their names, or the whole of it. When all folders are called val or test, the
/// training part is missing.
ClassParts parts_of_tree(const std::filesystem::path& path, const ClassTree& tree);
/// Returns the folders in a folder that are not hidden, by name; none for one that cannot be read.
std::vector<std::filesystem::path> folders_in(const std::filesystem::path& folder);

/// Finds the parts of a data set in one of these forms:
///   FILE.csv   rows "file,class", files below the list's folder; of videos also "file,start,end,class"
///   FOLDER     with train-images-idx3-ubyte[.gz] and its companions (t10k-… for tests), or with train, val (valid,
///              validation) and test as folders or CSV lists, or with a folder per class of images, volumes or videos;
///              when all folders are called val or test, the training part is missing; the same with DICOM series
/// Returns no parts (any() is false) for anything else, including data sets of segmentation and detection. Errors:
/// kInput for IDX images without labels.
ClassParts find_class_parts(const std::filesystem::path& path, const ClassKinds& kinds = class_kinds());

/// Returns the parts of a data set of classes for a command that also takes items without them. A folder of folders of
/// DICOM series is one where it is divided into training and other parts: undivided, the folders may as well be those
/// of patients.
ClassParts labelled_parts(const std::filesystem::path& input, const ClassKinds& kinds);

/// Returns "a folder per class with images, ..., a CSV of file,class, or MNIST's IDX files".
std::string expected_class_sets(const ClassKinds& kinds = class_kinds());
/// Returns the same list from ClassKind::help.
std::string class_sets_help(const ClassKinds& kinds = class_kinds());
/// Returns the warning of a prediction of items that lie beside folders of classes.
std::string beside_classes_text(const std::filesystem::path& input);
/// Returns "a folder per class, MNIST".
std::string class_folders(const ClassKinds& kinds = class_kinds());

}  // namespace voxshard
