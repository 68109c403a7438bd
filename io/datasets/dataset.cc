// Reading data set folders. nnU-Net v2 has channel_names and file_ending; v1 and the Decathlon have modality and labels
// by number. v1 stores one file per channel ("liver_03_0000.nii.gz"), the Decathlon one file per case.
//
//   Dataset d = read_dataset("Task09_Spleen");
#include "io/datasets/dataset.h"

#include <algorithm>
#include <set>

#include <nlohmann/json.hpp>

#include "io/datasets/annotated.h"
#include "io/datasets/dataset_names.h"
#include "io/datasets/regions.h"
#include "io/files/atomic_file.h"
#include "io/files/channel_address.h"
#include "io/files/config_file.h"
#include "io/files/file_error.h"
#include "io/files/file_name.h"
#include "libcore/base/plain_text.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

bool file_exists(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

std::set<std::string> file_names(const fs::path& folder) {
  std::set<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(".")) names.insert(name);  // "._x.nii.gz" is macOS' resource fork of x.nii.gz
  }
  return names;
}

/// The ids in a folder of channel files: "liver_03_0000.nii.gz" -> "liver_03".
std::set<std::string> channel_ids(const fs::path& folder, const std::string& ending) {
  std::set<std::string> ids;
  for (const std::string& name : file_names(folder)) {
    if (!name.ends_with(ending)) continue;
    if (const auto stem = channel_of_stem(name.substr(0, name.size() - ending.size()))) ids.insert(stem->id);
  }
  return ids;
}

std::set<std::string> label_ids(const fs::path& folder, const std::string& ending) {
  std::set<std::string> ids;
  for (const std::string& name : file_names(folder))
    if (name.ends_with(ending)) ids.insert(name.substr(0, name.size() - ending.size()));
  return ids;
}

/// Adds a case to `cases` when its id is a plain name and all its files exist, else to the problems.
void take(Dataset& d, std::vector<Case>& cases, Case one, bool needs_label) {
  const auto leave_out = [&](const char* code, const std::string& reason) {
    d.problems.push_back({shown_name(one.id), code, reason});
  };
  if (const std::string problem = name_problem(one.id); !problem.empty())
    return leave_out("E_NAME", "the case's name " + problem + "; expected one plain file name: rename the case");
  if (one.images.size() != d.channels.size())
    return leave_out("E_MISSING", "lists " + std::to_string(one.images.size()) +
                                      " images; expected one for each of the " + std::to_string(d.channels.size()) +
                                      " channels");
  for (const auto& image : one.images)
    if (!file_exists(file_of_channel(image))) return leave_out("E_MISSING", "image " + image.string() + " is missing");
  if (one.label && !file_exists(*one.label)) {
    if (needs_label) return leave_out("E_MISSING", "label " + one.label->string() + " is missing");
    one.label.reset();
  }
  if (needs_label && !one.label) return leave_out("E_MISSING", "no label is given");
  if (std::any_of(cases.begin(), cases.end(), [&](const Case& other) { return other.id == one.id; }))
    return leave_out("E_DUPLICATE", "an earlier case has this name, which this one would overwrite; rename it");
  cases.push_back(std::move(one));
}

Case channel_case(const Dataset& d, const std::string& id, const char* images, const char* labels) {
  Case one{id, {}, d.folder / labels / (id + d.file_ending)};
  for (std::size_t c = 0; c < d.channels.size(); ++c)
    one.images.push_back(d.folder / images / (id + channel_suffix(c) + d.file_ending));
  return one;
}

/// imagesTr, labelsTr, imagesTs, labelsTs with one file per channel.
void read_channel_folders(Dataset& d) {
  auto ids = channel_ids(d.folder / "imagesTr", d.file_ending);
  for (const std::string& id : label_ids(d.folder / "labelsTr", d.file_ending)) ids.insert(id);
  for (const std::string& id : ids) take(d, d.training, channel_case(d, id, "imagesTr", "labelsTr"), true);
  for (const std::string& id : channel_ids(d.folder / "imagesTs", d.file_ending))
    take(d, d.test, channel_case(d, id, "imagesTs", "labelsTs"), false);
}

/// nnU-Net's optional "dataset": {case: {"images": [...], "label": ...}}.
void read_explicit_cases(Dataset& d, const json& cases) {
  for (const auto& [id, value] : cases.items()) {
    Case one{id, {}, {}};
    for (const auto& image : value.at("images")) one.images.push_back(d.folder / image.get<std::string>());
    if (value.contains("label")) one.label = d.folder / value.at("label").get<std::string>();
    take(d, d.training, std::move(one), true);
  }
}

std::string id_of(const fs::path& image, const std::string& ending) {
  const std::string name = image.filename().string();
  return name.ends_with(ending) ? name.substr(0, name.size() - ending.size()) : image.stem().string();
}

/// The Decathlon's lists: {"image": "./imagesTr/x.nii.gz", "label": ...} to train, plain names to test.
void read_listed_cases(Dataset& d, const json& root) {
  auto resolved = [&](const json& name) { return (d.folder / name.get<std::string>()).lexically_normal(); };
  const auto images_of = [&](const fs::path& file) { return channel_addresses(file, d.channels.size()); };
  auto hidden = [](const fs::path& path) { return path.filename().string().starts_with("."); };
  for (const auto& pair : root.value("training", json::array())) {
    const fs::path image = resolved(pair.at("image"));
    if (!hidden(image))
      take(d, d.training, {id_of(image, d.file_ending), images_of(image), resolved(pair.at("label"))}, true);
  }
  for (const auto& value : root.value("test", json::array())) {
    const fs::path image = resolved(value.is_object() ? value.at("image") : value);
    if (!hidden(image))
      take(d, d.test, {id_of(image, d.file_ending), images_of(image), d.folder / "labelsTs" / image.filename()}, false);
  }
}

/// Returns true for v1, which also lists "imagesTr/x.nii.gz", but stores that file as x_0000.nii.gz.
bool has_channel_files(const Dataset& d) {
  return !channel_ids(d.folder / "imagesTr", d.file_ending).empty() ||
         !channel_ids(d.folder / "imagesTs", d.file_ending).empty();
}

bool listed_files_exist(const Dataset& d, const json& root) {
  for (const auto& pair : root.value("training", json::array()))
    if (file_exists(d.folder / pair.at("image").get<std::string>())) return true;
  return false;
}

void read_cases(Dataset& d, const json& root, const fs::path& file) {
  if (root.contains("channel_names")) {
    d.kind = "nnU-Net v2";
    if (!root.contains("file_ending")) refuse_dataset(file, "has no file_ending");
    d.file_ending = root.at("file_ending").get<std::string>();
    if (const std::string problem = name_problem("x" + d.file_ending); !problem.empty())
      refuse_dataset(file, "has a file_ending that " + problem);
    d.channels = channels_of(root.at("channel_names"), file);
    read_label_names(root, file, d);
    if (root.contains("dataset")) {
      read_explicit_cases(d, root.at("dataset"));
      for (const std::string& id : channel_ids(d.folder / "imagesTs", d.file_ending))
        take(d, d.test, channel_case(d, id, "imagesTs", "labelsTs"), false);
    } else {
      read_channel_folders(d);
    }
    return;
  }
  d.channels = channels_of(root.at("modality"), file);
  read_label_names(root, file, d);
  if (has_channel_files(d) && !listed_files_exist(d, root)) {
    d.kind = "nnU-Net v1";
    read_channel_folders(d);
  } else {
    d.kind = "Decathlon";
    read_listed_cases(d, root);
  }
}

/// Returns what to do about a folder without a dataset.json: the file to write, where images lie as in nnU-Net's
/// folders.
std::string missing_dataset_action(const fs::path& folder) {
  const std::set<std::string> labels = file_names(folder / "labelsTr"), images = file_names(folder / "imagesTr");
  const std::string plain = "two plain folders go as {images} A {labels} B";
  if (holds_masks_by_subject(folder))
    return "SUBJECT/segmentations with a mask for each class, as in TotalSegmentator's data, is not read: make one "
           "label map of whole numbers of each subject's masks; then " +
           plain;
  if (images.empty()) return "give an nnU-Net or Decathlon data set folder; " + plain;
  const std::string& first = labels.empty() ? *images.begin() : *labels.begin();
  const std::string ending = first.ends_with(".gz") ? fs::path(first).stem().extension().string() + ".gz"
                                                    : fs::path(first).extension().string();
  const json file = {{"channel_names", {{"0", "CT"}}},
                     {"labels", {{"background", 0}, {"CLASS", 1}}},
                     {"numTraining", labels.size()},
                     {"file_ending", plain_text(ending)}};
  return "write it there, with your channels and classes in place of CT and CLASS: " + file.dump() + "; or " + plain;
}

/// Reads a file whose names are hidden: of what is no JSON the place alone is told, because parsers quote what stands
/// there.
json read_json_hiding(const fs::path& file) {
  try {
    return read_json(file);
  } catch (const Error& e) {
    if (std::string_view(e.code()) != "E_SYNTAX") throw;
    const std::string text = e.what(), begin = file.string() + ":";
    const std::size_t at = text.find(begin);
    const std::size_t digits = at == std::string::npos ? 0 : at + begin.size();
    const std::string line = text.substr(digits, text.find_first_not_of("0123456789", digits) - digits);
    throw input_error(
        file, "is not valid JSON, or has a name twice in one object" + (line.empty() ? "" : ", in line " + line),
        "look there; what stands there is not shown, because it may be the name of a case", "E_SYNTAX");
  }
}

}  // namespace

bool holds_masks_by_subject(const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code unknown;
    if (it->is_directory(unknown) && fs::is_directory(it->path() / "segmentations", unknown)) return true;
  }
  return false;
}

Dataset read_dataset(const fs::path& folder, IdsInErrors ids) {
  const fs::path file = folder / "dataset.json";
  if (!fs::is_directory(folder))
    throw input_error(folder, "is not a folder", "give the folder that holds dataset.json");
  if (!file_exists(file)) throw input_error(folder, "has no dataset.json", missing_dataset_action(folder));
  const json root = ids == IdsInErrors::kShown ? read_json(file) : read_json_hiding(file);
  if (!root.is_object() || !root.contains("labels") || (!root.contains("channel_names") && !root.contains("modality")))
    refuse_dataset(file, "is no description of a data set");
  Dataset d;
  d.folder = folder;
  d.name = plain_text(fs::absolute(folder / "x").parent_path().lexically_normal().filename().string());
  try {
    if (root.contains("name") && root.at("name").is_string()) d.name = plain_text(root.at("name").get<std::string>());
    read_cases(d, root, file);
  } catch (const json::exception& e) {
    refuse_dataset(file, std::string("has a key of the wrong form (") + e.what() + ")");
  }
  read_annotated(root, file, ids, d);
  std::ranges::sort(d.training, {}, &Case::id);
  std::ranges::sort(d.test, {}, &Case::id);
  if (d.training.empty() && d.test.empty()) {
    const std::string why = d.problems.empty() ? "no image with the ending " + d.file_ending + " was found"
                                               : "the first of " + std::to_string(d.problems.size()) + ": " +
                                                     (ids == IdsInErrors::kHidden
                                                          ? "its code is " + d.problems[0].code
                                                          : "case " + d.problems[0].id + ": " + d.problems[0].reason);
    throw Error(ErrorKind::kNoCase,
                "[input] " + folder.string() + ": holds no usable case (" + why + "); check imagesTr and labelsTr");
  }
  return d;
}

void write_dataset_json(const Dataset& d) {
  nlohmann::ordered_json root;
  for (std::size_t c = 0; c < d.channels.size(); ++c) root["channel_names"][std::to_string(c)] = d.channels[c];
  for (std::size_t k = 0; k < d.label_names.size(); ++k) root["labels"][d.label_names[k]] = k;
  if (d.ignore_label) root["labels"]["ignore"] = *d.ignore_label;
  if (!d.regions.empty()) add_regions(d, root);
  root["numTraining"] = d.training.size();
  root["file_ending"] = d.file_ending;
  root["name"] = d.name;
  if (auto annotated = annotated_json(d); !annotated.empty()) root["annotated"] = std::move(annotated);
  write_text_atomically(d.folder / "dataset.json", root.dump(4) + "\n");
}

std::vector<std::string> case_ids(const std::vector<Case>& cases) {
  std::vector<std::string> ids;
  for (const Case& one : cases) ids.push_back(one.id);
  return ids;
}

}  // namespace voxshard
