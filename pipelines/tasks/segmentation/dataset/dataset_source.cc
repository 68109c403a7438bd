#include "pipelines/tasks/segmentation/dataset/dataset_source.h"

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "io/datasets/class_map.h"
#include "io/datasets/study_files.h"
#include "io/datasets/study_tree.h"
#include "io/dicom/dicom_series.h"
#include "io/volume/archive.h"
#include "pipelines/settings/word_list.h"
#include "pipelines/tasks/segmentation/dataset/label_values.h"
#include "pipelines/tasks/segmentation/dataset/plain_folders.h"
#include "pipelines/tasks/segmentation/dataset/source_case.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

bool has_dataset_file(const fs::path& folder) {
  std::error_code error;
  return fs::exists(folder / "dataset.json", error);
}

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorKind::kUsage, "[usage] " + what); }

void require_complete(const DatasetSource& source) {
  if (source.images.empty() != source.labels.empty()) refuse("{images} and {labels} go together: give both folders");
  if (source.folder.empty() && source.images.empty())
    refuse(
        "no data set is given: name a folder with a dataset.json, a tree of DICOM studies, or {images} and {labels}");
  if (!source.folder.empty() && !source.images.empty())
    refuse("a data set folder and {images} are two data sets: give one of them");
  if (source.images.empty() && !source.channels.empty()) refuse("{channels} is for {images} and {labels} only");
  if (!source.classes.empty() && has_dataset_file(source.folder) && !source.folder.empty())
    refuse("{classes} has no effect on a data set with a dataset.json, which names its classes: leave it out");
}

Dataset read_plain_folders(const DatasetSource& source, const VolumeFormats& formats, const RunContext& context,
                           MemoryGate& gate) {
  const auto channels = source.channels.empty() ? std::vector<std::string>() : split_words(source.channels, ',');
  Dataset dataset = pair_folders({source.images, source.labels, channels}, formats);
  if (source.classes.empty())
    dataset.label_names = class_names_from_values(dataset.training, formats, context, gate);
  else
    dataset.label_names = label_names(read_class_map(source.classes));
  return dataset;
}

/// Returns the most frequent structures of a tree with their counts.
std::string structures_text(const StudyTree& tree) {
  std::vector<std::pair<std::int64_t, std::string>> counts;
  for (const auto& [name, cases] : tree.unmatched.cases()) counts.emplace_back(-cases, name);
  if (counts.empty()) return "no image of this one has labels";
  std::sort(counts.begin(), counts.end());
  constexpr std::size_t kMostShown = 20;
  std::string text = "the structures of this one are ";
  for (std::size_t i = 0; i < std::min(kMostShown, counts.size()); ++i)
    text += (i > 0 ? ", " : "") + counts[i].second + " (" + std::to_string(-counts[i].first) +
            (counts[i].first == -1 ? " case)" : " cases)");
  return text + (counts.size() > kMostShown ? " and others" : "");
}

Dataset read_tree(const DatasetSource& source, const VolumeFormats& formats, Progress& progress) {
  if (source.classes.empty())
    refuse(
        "a tree of DICOM studies needs {classes} map.toml, which maps names of structures to classes, such as "
        "[[class]] "
        "name = \"liver\" aliases = [\"Liver\", \"Leber\"]; " +
        structures_text(read_study_tree(source.folder, {}, formats.limits)));
  StudyTree tree = read_study_tree(source.folder, read_class_map(source.classes), formats.limits);
  if (source.keep_names) name_by_folders(tree.dataset);
  if (!tree.unmatched.empty()) progress.warn(tree.unmatched.text());
  if (const std::string text = left_out_text(tree); !text.empty()) progress.log("left out: " + text);
  return std::move(tree.dataset);
}

/// True when ids differ in a short number alone, as liver_001 and liver_002 do: such names say nothing of patients.
bool are_ordinals(const Dataset& dataset) {
  constexpr std::size_t kMostDigits = 5;  // more may be the number of a patient
  std::vector<std::string> ids = case_ids(dataset.training);
  for (const Case& item : dataset.test) ids.push_back(item.id);
  if (ids.empty()) return true;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto letters_of = [&](const std::string& id) {  // without the number at its end
    std::size_t end = id.size();
    while (end > 0 && is_digit(id[end - 1])) --end;
    return id.substr(0, end);
  };
  const std::string letters = letters_of(ids.front());
  return std::ranges::all_of(ids, [&](const std::string& id) {
    const std::size_t digits = id.size() - letters.size();
    return letters_of(id) == letters && digits >= 1 && digits <= kMostDigits;
  });
}

/// Why a case of a dataset.json cannot be used, without its names.
std::string reason_without_names(const std::string& code) {
  if (code == "E_MISSING") return "an image or the label map of it is missing";
  if (code == "E_DUPLICATE") return "an earlier case has its name, which this one would overwrite";
  return "its name is no plain file name";
}

/// with_ids() that reads the names of earlier calls only where ids are ordinals.
SourceDataset with_ids_after(Dataset dataset, bool folders_of_names, const DatasetSource& source,
                             const std::function<CaseNames()>& earlier, Progress& progress) {
  if (source.keep_names && !source.id_salt.empty())
    refuse("{keep-names} and {id-salt} contradict each other: ids are names, or made with a secret");
  const std::optional<Secret> secret = secret_for_ids(source.id_salt, progress);
  SourceDataset found{.dataset = std::move(dataset), .names = {}, .ids = "names", .folders_of_names = folders_of_names};
  const auto say_notes = [&] {
    for (const CaseProblem& note : found.dataset.notes)
      progress.warn("case " + note.id + ": " + note.code + " " + note.reason);
  };
  if (!secret && (source.keep_names || !folders_of_names)) {
    if (source.keep_names)
      progress.log(
          "ids of cases are the names of files and folders, because {keep-names} says so: whatever these say of "
          "patients stands in every output");
    else if (!are_ordinals(found.dataset))
      progress.log(
          "ids of cases are the file names of the data set, which stand in every output; where they name patients, "
          "{id-salt} FILE hides them");
    say_notes();
    return found;
  }
  if (!folders_of_names)
    for (CaseProblem& problem : found.dataset.problems) problem.reason = reason_without_names(problem.code);
  if (!secret) found.names = earlier();
  give_ids(found.dataset, secret, found.names);
  found.ids = secret ? "salted" : "ordinals";
  say_notes();
  return found;
}

}  // namespace

std::vector<Setting> source_settings(DatasetSource& o) {
  const std::string group = "Cases";
  return {
      {"images", "Folder of images, in place of a data set folder; with {labels}", group, &o.images},
      {"labels", "Folder of label maps with the names of the images", group, &o.labels},
      {.name = "channels",
       .help = "Names of the channels of {images}, _0000, _0001, ...; default: CT",
       .group = group,
       .value = &o.channels,
       .tells_default = false,
       .type = "NAMES"},
      {"classes",
       "Class map (TOML, JSON or YAML): of a tree of DICOM studies the names of the structures of each class; of "
       "{images} and {labels} the names of labels 1, 2, ...",
       group, &o.classes},
      {"id-salt",
       "File of a secret, 16 bytes or more: ids of cases are hashes that only its holder can make; without it cases of "
       "plain folders and of trees are numbered",
       group, &o.id_salt},
      {"keep-names", "Ids are the names of files and folders, whatever these say of patients", group, &o.keep_names}};
}

SourceDataset with_ids(Dataset dataset, bool folders_of_names, const DatasetSource& source, const fs::path& work,
                       Progress& progress) {
  return with_ids_after(
      std::move(dataset), folders_of_names, source, [&] { return work.empty() ? CaseNames() : read_case_names(work); },
      progress);
}

SourceDataset with_ids(Dataset dataset, bool folders_of_names, const DatasetSource& source, const CaseNames& earlier,
                       Progress& progress) {
  return with_ids_after(
      std::move(dataset), folders_of_names, source, [&] { return earlier; }, progress);
}

bool is_study_tree(const fs::path& folder) {
  std::error_code error;  // nnU-Net's folders without their dataset.json are none
  return !has_dataset_file(folder) &&
         (holds_dicom(folder) || (!fs::exists(folder / "imagesTr", error) && may_hold_studies(folder)));
}

bool holds_structures(const fs::path& folder) {
  std::error_code error;
  return fs::is_directory(folder, error) && is_study_tree(folder) &&
         (!find_dicom_series(folder)->structure_files.empty() ||
          (!archives_below(folder).empty() && !find_studies(folder).labels.empty()));
}

SourceDataset read_studies(const DatasetSource& source, const fs::path& work, const VolumeFormats& formats,
                           Progress& progress) {
  return with_ids(read_tree(source, formats, progress), true, source, work, progress);
}

SourceDataset read_dataset_source(const DatasetSource& source, const fs::path& work, const VolumeFormats& formats,
                                  const RunContext& context, MemoryGate& gate) {
  require_complete(source);
  Progress& progress = context.progress();
  const bool plain = !source.images.empty();
  if (!plain && is_study_tree(source.folder)) return read_studies(source, work, formats, progress);
  return with_ids(plain ? read_plain_folders(source, formats, context, gate)
                        : read_any_dataset(source.folder, ids_in_errors(source)),
                  plain, source, work, progress);
}

IdsInErrors ids_in_errors(const DatasetSource& source) {
  return source.id_salt.empty() ? IdsInErrors::kShown : IdsInErrors::kHidden;
}

std::optional<Secret> secret_for_ids(const fs::path& id_salt, Progress& progress) {
  if (id_salt.empty()) return std::nullopt;
  Secret secret = read_secret(id_salt, "{id-salt}");
  if (secret.exposed)
    progress.warn("W_SECRET others than its owner may read the file of {id-salt}; take that right away: chmod 600");
  return secret;
}

std::vector<fs::path> folders_of(const DatasetSource& source) {
  std::vector<fs::path> folders;
  for (const fs::path& folder : {source.folder, source.images, source.labels})
    if (!folder.empty()) folders.push_back(folder);
  return folders;
}

std::vector<std::string> words_of(const DatasetSource& source) {
  std::vector<std::string> words;
  if (!source.folder.empty()) words.push_back(source.folder.string());
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {option, value});
  };
  add("{images}", source.images.string()), add("{labels}", source.labels.string());
  add("{channels}", source.channels), add("{classes}", source.classes.string());
  add("{id-salt}", source.id_salt.string());
  if (source.keep_names) words.emplace_back("{keep-names}");
  return words;
}

}  // namespace voxshard
