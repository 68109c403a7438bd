#include "pipelines/tasks/segmentation/arriving_images.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "io/files/output_folder.h"
#include "pipelines/tasks/segmentation/input_cases.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr auto kLook = 1000ms, kStopLook = 50ms;  // between two looks at the folder, and at a request to stop

}  // namespace

void require_watchable(const VolumeReading& reading, const PredictOptions& options) {
  if (reading.watch == reading.done.empty())
    throw Error(ErrorKind::kUsage,
                "[predict] {watch} and {done} FOLDER go together: finished inputs move to that folder");
  if (!reading.watch) return;
  if (options.dry_run || options.held_out)
    throw Error(ErrorKind::kUsage,
                "[predict] {dry-run} and {held-out} are about what is there; leave {watch} and {done} out");
  require_outside(reading.done, {options.output, options.input}, "{done}");
  require_outside(options.output, {reading.done}, "{output}");
}

ArrivingImages::ArrivingImages(InboxFolders folders, const ImageSearch& search, const VolumeFormats& formats,
                               Progress& progress)
    : folders_(folders), search_(search), formats_(formats), progress_(progress), inbox_(std::move(folders)) {}

std::vector<fs::path> ArrivingImages::images_of(const fs::path& entry) const {
  std::error_code error;
  const bool folder = fs::is_directory(entry, error) || is_volume_folder(entry, formats_);
  if (!folder && !volume_stem(entry, formats_)) return {};
  try {
    return find_images(entry, formats_, search_, progress_).images;
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::kInput && e.kind() != ErrorKind::kNoCase) throw;
    return {};
  }
}

std::vector<fs::path> ArrivingImages::wait() {
  while (true) {
    std::size_t without = 0;
    bool fresh = false;
    std::vector<fs::path> images;
    std::map<fs::path, std::vector<fs::path>> images_in;  // entries that have just arrived
    for (const fs::path& entry : inbox_.arrived()) {
      std::vector<fs::path> found = images_of(entry);
      without += found.empty();
      if (found.empty()) continue;
      fresh = true;
      entries_[entry] = {};
      images_in[entry] = std::move(found);
    }
    if (without > 0)
      progress_.warn(std::to_string(without) + (without == 1 ? " entry" : " entries") +
                     " of the inbox without a volume left in place; slices of a DICOM series belong into a folder of "
                     "their own");
    if (fresh) {
      for (const auto& [entry, state] : entries_)
        if (state.cases == 0)
          for (fs::path& image : images_in.contains(entry) ? images_in[entry] : images_of(entry))
            images.push_back(std::move(image));
      std::sort(images.begin(), images.end());
      return images;
    }
    for (auto waited = 0ms; waited < kLook; waited += kStopLook) {
      throw_if_stopped(progress_);
      std::this_thread::sleep_for(kStopLook);
    }
  }
}

std::set<fs::path> ArrivingImages::entries_of(const Case& item) const {
  std::set<fs::path> entries;
  const auto add = [&](const fs::path& file) {
    const fs::path below = file.lexically_relative(folders_.folder);
    if (!below.empty() && *below.begin() != "..") entries.insert(folders_.folder / *below.begin());
  };
  for (const fs::path& image : item.images) add(image);
  try {
    for (const fs::path& file : files_of_case(item, formats_).files) add(file);  // the voxels of a header
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::kInput) throw;  // reading reports it
  }
  return entries;
}

void ArrivingImages::expect(const std::vector<Case>& cases) {
  used_.clear();
  for (const Case& item : cases) {
    used_[item.images.front()] = entries_of(item);
    for (const fs::path& entry : used_[item.images.front()]) ++entries_[entry].cases;
  }
}

void ArrivingImages::ended(const Case& item, bool good) {
  for (const fs::path& entry : used_[item.images.front()]) {
    Entry& state = entries_[entry];
    state.good = state.good && good;
    if (--state.cases > 0) continue;
    inbox_.finish(entry, state.good);
    entries_.erase(entry);
  }
}

}  // namespace voxshard
