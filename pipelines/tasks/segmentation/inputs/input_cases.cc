#include "pipelines/tasks/segmentation/inputs/input_cases.h"

#include <algorithm>
#include <map>
#include <set>

#include "io/datasets/study_tree.h"
#include "io/files/channel_address.h"
#include "io/files/file_name.h"
#include "io/volume/archive.h"
#include "pipelines/tasks/input_tree.h"
#include "pipelines/tasks/segmentation/dataset/prepare_plan.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

/// Returns the name that tells the channel of an image, without its ending: that of a file, or for a series and for a
/// volume of an archive that of the folder or archive that holds it.
std::string channel_name_of(const fs::path& path, const VolumeFormats& formats) {
  if (!is_volume_address(path, formats)) {
    const fs::path plain = path.has_filename() ? path : path.parent_path();
    return is_archive_name(plain) ? archive_stem(plain)
                                  : volume_stem(plain, formats).value_or(plain.filename().string());
  }
  const fs::path holder = path.parent_path();
  return is_archive_name(holder) ? archive_stem(holder) : holder.filename().string();
}

/// Returns a file's name without its ending.
std::string stem_of(const fs::path& path, const VolumeFormats& formats) {
  return volume_stem(path, formats).value_or(path.filename().string());
}

/// True for an image without a file name of its own: a DICOM series, and a volume of an archive.
bool is_nameless(const fs::path& image, const VolumeFormats& formats) {
  return is_volume_address(image, formats) || std::ranges::any_of(formats.rows, [&](const VolumeFormat& format) {
           return format.endings.empty() && format.matches(image);
         });
}

bool any_nameless(const std::vector<fs::path>& images, const VolumeFormats& formats) {
  return std::ranges::any_of(images, [&](const fs::path& image) { return is_nameless(image, formats); });
}

/// Returns the case of one image alone: "liver_03_0000.nii.gz" -> "liver_03".
Case case_of_image(const fs::path& path, const VolumeFormats& formats) {
  const std::string stem = stem_of(path, formats);
  const auto channel = channel_of_stem(stem);
  return {.id = channel && channel->channel == 0 ? channel->id : stem, .images = {path}, .label = {}};
}

InputCases cases_of_one_channel(const std::vector<fs::path>& images, const VolumeFormats& formats) {
  InputCases found{.nameless = any_nameless(images, formats)};
  std::set<std::string> firsts;  // with a file _0000
  for (const fs::path& path : images) {
    found.cases.push_back(case_of_image(path, formats));
    if (const auto stem = channel_of_stem(channel_name_of(path, formats)); stem && stem->channel == 0)
      firsts.insert(stem->id);
  }
  for (const fs::path& path : images)
    if (const auto stem = channel_of_stem(channel_name_of(path, formats)))
      found.further += stem->channel > 0 && firsts.contains(stem->id);
  return found;
}

/// Adds the case of a file that holds all channels, or why it is none.
void add_whole(const fs::path& path, const std::vector<std::string>& channels, const VolumeFormats& formats,
               InputCases& found) {
  Case item{.id = stem_of(path, formats), .images = channel_addresses(path, channels.size()), .label = {}};
  const bool may_hold_them = std::ranges::any_of(
      formats.rows, [&](const VolumeFormat& format) { return format.matches(item.images.front()); });
  if (may_hold_them) {
    found.cases.push_back(std::move(item));
    return;
  }
  found.failures.push_back(
      {item.id, "E_MISSING",
       "[predict] it is one volume, and the run reads the " + std::to_string(channels.size()) + " channels " +
           channels_text(channels) +
           (is_nameless(path, formats) ? "; name the folders or archives with the series of each channel CASE_0000, "
                                         "CASE_0001, ... in this order"
                                       : "; give files named CASE_0000, CASE_0001, ... or 4-D files")});
}

/// The images of a case by the number of the channel; `any` is one of them.
struct Files {
  std::map<std::size_t, fs::path> by_channel;
  fs::path any;
  bool doubled = false;
};

/// Returns the file, folder or archive of another channel beside that of an image, by its name.
fs::path sibling(const fs::path& image, const std::string& id, std::size_t channel, const VolumeFormats& formats) {
  const fs::path held = is_volume_address(image, formats) ? image.parent_path() : image;
  const fs::path file = held.has_filename() ? held : held.parent_path();
  const std::string name = file.filename().string();
  return file.parent_path() / (id + channel_suffix(channel) + name.substr(id.size() + channel_suffix(0).size()));
}

void add_channels(const std::string& id, const Files& files, const std::vector<std::string>& channels,
                  const VolumeFormats& formats, InputCases& found) {
  Case item{.id = id, .images = {}, .label = {}};
  const auto leave_out = [&](const char* code, const std::string& why) {
    found.failures.push_back({id, code, "[predict] " + why});
  };
  if (files.doubled)
    return leave_out("E_DUPLICATE",
                     "several images are the same channel of it; keep one in each folder CASE_0000, ...");
  for (std::size_t c = 0; c < channels.size(); ++c) {
    const auto known = files.by_channel.find(c);
    const fs::path path = known != files.by_channel.end() ? known->second : sibling(files.any, id, c, formats);
    std::error_code error;
    if (known == files.by_channel.end() && !fs::exists(path, error)) {
      const std::string expected = is_nameless(files.any, formats) ? "a folder or archive CASE" + channel_suffix(c)
                                   : found.nameless                ? "a file CASE" + channel_suffix(c)
                                                                   : shown_name(path.filename().string());
      return leave_out("E_MISSING", "the channel " + std::to_string(c) + " (" + shown_name(channels[c]) +
                                        ") is missing; expected " + expected);
    }
    item.images.push_back(path);
  }
  found.cases.push_back(std::move(item));
}

/// Names the cases of a data set after the folders of their images; returns the names that they had.
///   by_path  names of those that are files in folders, by id
CaseNames take_names_of_folders(Dataset& set, const std::map<std::string, std::string>& by_path) {
  std::map<fs::path, std::string> name_of;
  for (const Case& item : set.training) name_of[item.images.front()] = item.id;
  const auto files = std::stable_partition(set.training.begin(), set.training.end(),
                                           [&](const Case& item) { return !by_path.contains(item.id); });
  std::vector<Case> of_files(files, set.training.end());
  set.training.erase(files, set.training.end());
  name_by_folders(set);
  for (Case& item : of_files) {
    item.id = by_path.at(item.id);
    set.training.push_back(std::move(item));
  }
  std::ranges::stable_sort(set.training, {}, &Case::id);
  for (CaseProblem& problem : set.problems)
    if (const auto named = by_path.find(problem.id); named != by_path.end()) problem.id = named->second;
  CaseNames names;
  for (const Case& item : set.training)
    names[item.id] = {.name = name_of.at(item.images.front()), .files = item.images};
  return names;
}

}  // namespace

namespace {

/// Returns the cases of the images of one folder.
///   hides  names of files are in no message
InputCases cases_of_folder(const std::vector<fs::path>& images, const std::vector<std::string>& channels,
                           const VolumeFormats& formats, bool hides) {
  if (channels.size() == 1) return cases_of_one_channel(images, formats);
  InputCases found{.nameless = hides || any_nameless(images, formats)};
  std::map<std::string, Files> by_id;
  std::vector<std::string> order;
  for (const fs::path& path : images) {
    const auto stem = channel_of_stem(channel_name_of(path, formats));
    if (!stem) {
      add_whole(path, channels, formats, found);
    } else if (stem->channel >= channels.size()) {
      ++found.left_out;
    } else {
      if (!by_id.contains(stem->id)) order.push_back(stem->id);
      Files& files = by_id[stem->id];
      files.doubled |= !files.by_channel.emplace(stem->channel, path).second;
      files.any = path;
    }
  }
  for (const std::string& id : order) add_channels(id, by_id[id], channels, formats, found);
  return found;
}

/// Returns the folder whose images may be channels of one case: that of a file, or of the folder or archive that holds
/// a series.
fs::path folder_of(const fs::path& image, const VolumeFormats& formats) {
  return is_volume_address(image, formats) ? image.parent_path().parent_path() : image.parent_path();
}

}  // namespace

InputCases cases_of_images(const std::vector<fs::path>& images, const std::vector<std::string>& channels,
                           const VolumeFormats& formats) {
  return cases_of_folder(images, channels, formats, false);
}

InputCases cases_below(const fs::path& root, const std::vector<fs::path>& images,
                       const std::vector<std::string>& channels, const VolumeFormats& formats) {
  std::map<fs::path, std::vector<fs::path>> by_folder;
  for (const fs::path& image : images) by_folder[folder_of(image, formats)].push_back(image);
  InputCases all{.nameless = true};
  for (const auto& [folder, own] : by_folder) {
    InputCases found = cases_of_folder(own, channels, formats, true);
    const fs::path& below = folder;  // named: clang 14 captures no structured binding
    const auto placed = [&](std::string& id) {
      std::string path = lies_in(below, root) ? name_below(below / id, root) : id;
      std::string name = path;
      std::ranges::replace(name, '/', '_');
      all.by_path[path] = name;
      id = std::move(path);
    };
    for (Case& item : found.cases) {
      const bool is_series = is_volume_address(item.images.front(), formats) && item.images.size() == 1;
      if (!is_series) placed(item.id);
      all.cases.push_back(std::move(item));
    }
    for (CaseFailure& failure : found.failures) {
      placed(failure.id);
      all.failures.push_back(std::move(failure));
    }
    all.left_out += found.left_out, all.further += found.further;
  }
  return all;
}

void say_channels(const InputCases& found, std::size_t channels, Progress& progress) {
  if (found.left_out > 0)
    progress.warn("left out: " + std::to_string(found.left_out) + " files of channels behind the " +
                  std::to_string(channels) + " of the run");
  if (found.further > 0)
    progress.warn(std::to_string(found.further) +
                  " images are named like further channels of others, but the run reads one channel: each is "
                  "predicted as an image of its own");
}

void name_cases(InputCases& found, const DatasetSource& source, CaseNamesLog& names, Progress& progress) {
  if (!found.nameless && source.id_salt.empty()) return;
  Dataset set{.name = {},
              .folder = source.folder,
              .channels = {},
              .label_names = {},
              .training = std::move(found.cases),
              .test = {},
              .problems = {},
              .kind = {}};
  for (const CaseFailure& failure : found.failures)
    set.problems.push_back({failure.id, failure.code, failure.message, {}});
  const CaseNames folders = source.keep_names ? take_names_of_folders(set, found.by_path) : CaseNames();
  SourceDataset named = with_ids(std::move(set), found.nameless, source, names.names(), progress);
  found.cases = std::move(named.dataset.training);
  found.failures.clear();
  for (const CaseProblem& problem : named.dataset.problems)
    found.failures.push_back(
        {problem.id, problem.code, (problem.reason.starts_with("[") ? "" : "[predict] ") + problem.reason});
  names.add(source.keep_names ? folders : named.names);
}

VolumeFiles files_of_case(const Case& item, const VolumeFormats& formats) {
  VolumeFiles all;
  for (const fs::path& image : item.images) {
    VolumeFiles known = known_files_of_volume(image, formats);
    all.hashes.merge(known.hashes);
    for (const fs::path& file : known.files)
      if (std::ranges::find(all.files, file) == all.files.end()) all.files.push_back(file);
  }
  return all;
}

HashedCase hashed_case(const Case& item, const VolumeFormats& formats) {
  VolumeFiles known;
  try {
    known = files_of_case(item, formats);
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::kInput) throw;
  }
  return {.name = item.id, .files = known.files, .known = known.hashes};
}

std::string doubled_text(const Case& item) {
  return "[predict] " + (item.anonymous ? "it" : item.images.front().string()) +
         " would overwrite the prediction of another image of the same name; rename it";
}

}  // namespace voxshard
