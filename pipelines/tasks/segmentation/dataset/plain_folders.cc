#include "pipelines/tasks/segmentation/dataset/plain_folders.h"

#include <algorithm>
#include <map>
#include <set>

#include "io/dicom/dicom_series.h"
#include "io/files/channel_address.h"
#include "io/files/file_name.h"
#include "pipelines/tasks/volume_files.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

using FilesByName = std::map<std::string, std::vector<fs::path>>;

/// Returns the volumes of a folder by name, and the folders of DICOM series in it.
FilesByName named_volumes(const fs::path& folder, const VolumeFormats& formats) {
  std::error_code error;
  FilesByName files;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code unknown;
    const std::string name = it->path().filename().string();
    if (it->is_directory(unknown)) {
      if (!name.starts_with(".") && holds_dicom(it->path())) files[name].push_back(it->path());
    } else if (const auto id = volume_id(it->path(), formats)) {
      files[*id].push_back(it->path());
    }
  }
  if (error)
    throw Error(ErrorKind::kInput, "[" + folder.string() + "] cannot be read: " + error.message() +
                                       "; expected a folder of " + volume_endings(formats) + " files");
  return files;
}

/// The images by case and channel. Two files for one place are both kept.
using ImagesByCase = std::map<std::string, std::map<int, std::vector<fs::path>>>;

/// Groups images. Numbers at the end of all names are those of channels, unless label maps have the same numbers.
ImagesByCase by_case(const FilesByName& files, const FilesByName& labels) {
  const bool suffixed = std::ranges::all_of(
      files, [&](const auto& file) { return channel_of_stem(file.first).has_value() && !labels.contains(file.first); });
  ImagesByCase cases;
  for (const auto& [name, paths] : files) {
    const ChannelStem stem = suffixed ? *channel_of_stem(name) : ChannelStem{.id = name};
    cases[stem.id][static_cast<int>(stem.channel)] = paths;
  }
  return cases;
}

/// Returns the names of the channels; the number of channels is that of the case that has most.
std::vector<std::string> channel_names(const ImagesByCase& cases, const std::vector<std::string>& given) {
  int most = 1;
  for (const auto& [id, channels] : cases) most = std::max(most, channels.rbegin()->first + 1);
  const std::vector<std::string> names = given.empty() && most == 1 ? std::vector<std::string>{"CT"} : given;
  if (std::ssize(names) == most) return names;
  throw Error(ErrorKind::kUsage, "[usage] {channels} names " + std::to_string(names.size()) +
                                     " channels, but the images have " + std::to_string(most) +
                                     " (_0000, _0001, ...); name them in this order, like {channels} CT,PET");
}

std::vector<fs::path> all_files(const std::map<int, std::vector<fs::path>>& channels) {
  std::vector<fs::path> files;
  for (const auto& [channel, paths] : channels) files.insert(files.end(), paths.begin(), paths.end());
  return files;
}

/// Returns what is wrong with the files of a case, with its code; an empty code: nothing.
std::pair<std::string, std::string> problem_of(const std::map<int, std::vector<fs::path>>& channels,
                                               const std::vector<fs::path>& labels, std::size_t expected) {
  if (labels.empty()) return {"E_MISSING", "no label map has the name of this image; add one, or leave the image out"};
  if (labels.size() > 1) return {"E_DUPLICATE", "two label maps have this name; keep one"};
  for (int channel = 0; channel < static_cast<int>(expected); ++channel) {
    const auto found = channels.find(channel);
    if (found == channels.end())
      return {"E_MISSING", "the image of channel " + std::to_string(channel) + " is missing; add it"};
    if (found->second.size() > 1) return {"E_DUPLICATE", "two images have this name; keep one"};
  }
  return {};
}

}  // namespace

Dataset pair_folders(const FolderPair& folders, const VolumeFormats& formats) {
  FilesByName labels = named_volumes(folders.labels, formats);
  const ImagesByCase images = by_case(named_volumes(folders.images, formats), labels);
  Dataset dataset;
  dataset.kind = dataset.name = "images and labels";
  dataset.channels = channel_names(images, folders.channels);
  for (const auto& [id, channels] : images) {
    auto [code, reason] = problem_of(channels, labels[id], dataset.channels.size());
    if (const std::string why = name_problem(id); code.empty() && !why.empty())
      code = "E_NAME", reason = "the case's name " + why + "; expected one plain file name: rename it";
    if (code.empty())
      dataset.training.push_back({id, all_files(channels), labels[id].front()});
    else
      dataset.problems.push_back({shown_name(id), code, reason, all_files(channels)});
  }
  for (const auto& [id, paths] : labels)
    if (!images.contains(id))
      dataset.problems.push_back(
          {shown_name(id), "E_MISSING", "no image has the name of this label map; add one, or leave it out", paths});
  if (dataset.training.empty())
    throw Error(ErrorKind::kNoCase,
                "[input] no image has a label map of its name: " + folders.images.string() + " holds " +
                    std::to_string(images.size()) + " images, " + folders.labels.string() + " " +
                    std::to_string(std::ranges::count_if(labels, [](const auto& one) { return !one.second.empty(); })) +
                    " label maps; give both the same names (an image may end in _0000)");
  return dataset;
}

}  // namespace voxshard
