#include "pipelines/tasks/detection/dataset/video_dataset.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

#include "io/files/file_name.h"
#include "io/image/image_reader.h"
#include "io/video/video_reader.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

/// The selected frames of a data set's videos. The videos are read only for selections by time.
class ChosenFrames {
 public:
  ChosenFrames(const FrameSelection& selection, const fs::path& source) : selection_(selection), source_(source) {
    select_frames(VideoIndex{}, selection);  // throws when the selection is invalid
  }

  bool contains(const ImageAddress& address) {
    const FrameRange& range = selection_.range;
    const std::int64_t frame = *address.frame;
    if (!selection_.per_second && !range.in_seconds)
      return frame >= range.begin.num && (!range.end || frame < range.end->num) &&
             (frame - range.begin.num) % selection_.stride == 0;
    auto [chosen, is_new] = by_video_.try_emplace(address.file);
    if (is_new) chosen->second = select_frames(VideoReader(found(address.file)).index(), selection_);
    return std::binary_search(chosen->second.begin(), chosen->second.end(), frame);
  }

 private:
  /// Returns the path of a video; images that were not searched for are named relative to the annotations.
  fs::path found(const fs::path& video) const {
    std::error_code error;
    return fs::exists(video, error) ? video : named_path(source_.parent_path(), video.string());
  }

  FrameSelection selection_;
  fs::path source_;
  std::map<fs::path, std::vector<std::int64_t>> by_video_;
};

}  // namespace

std::optional<SequencePlace> frame_place(const DetectionImage& image) {
  const ImageAddress address = image_address(image.file);
  if (!address.frame) return image.place;
  return SequencePlace{address.file.lexically_normal().generic_string(), *address.frame};
}

bool has_video_frames(const DetectionDataset& dataset) {
  constexpr std::size_t kFewestFrames = 5;  // of a sequence, in the mean
  std::set<std::string> sequences;
  std::size_t frames = 0;
  for (const DetectionImage& image : dataset.images) {
    if (image_address(image.file).frame) return true;
    if (image.place) ++frames, sequences.insert(image.place->sequence);
  }
  return frames > 0 && frames == dataset.images.size() && frames >= kFewestFrames * sequences.size();
}

void keep_frames(DetectionDataset& dataset, const FrameSelection& selection) {
  ChosenFrames chosen(selection, dataset.source);
  std::erase_if(dataset.images, [&](const DetectionImage& image) {
    const ImageAddress address = image_address(image.file);
    if (!address.frame)
      throw Error(ErrorKind::kUsage,
                  "[data] " + image.file.string() +
                      " is no frame of a video; {range}, {stride} and {fps} choose frames of videos");
    return !chosen.contains(address);
  });
  if (dataset.images.empty())
    throw Error(ErrorKind::kNoCase,
                "[data] " + dataset.source.string() + ": no frame with an entry is chosen; check {range}");
}

namespace {

/// Keeps the boxes of the remaining images and updates their image indices; `ids` are the ids of all images before.
void keep_boxes(const DetectionDataset& dataset, const std::vector<std::int64_t>& ids, std::vector<ScoredBox>& found) {
  std::map<std::int64_t, std::int64_t> index_of;  // by id
  for (const DetectionImage& image : dataset.images) index_of.emplace(image.id, std::ssize(index_of));
  std::erase_if(found, [&](ScoredBox& box) {
    const auto kept = index_of.find(ids.at(box.image));
    if (kept == index_of.end()) return true;
    box.image = kept->second;
    return false;
  });
}

std::vector<std::int64_t> ids_of(const DetectionDataset& dataset) {
  std::vector<std::int64_t> ids;
  for (const DetectionImage& image : dataset.images) ids.push_back(image.id);
  return ids;
}

}  // namespace

void keep_frames(DetectionDataset& dataset, std::vector<ScoredBox>& found, const FrameSelection& selection) {
  const std::vector<std::int64_t> ids = ids_of(dataset);
  keep_frames(dataset, selection);
  keep_boxes(dataset, ids, found);
}

void keep_images(DetectionDataset& dataset, std::vector<ScoredBox>& found,
                 const std::function<bool(const DetectionImage&)>& keep) {
  const std::vector<std::int64_t> ids = ids_of(dataset);
  std::erase_if(dataset.images, [&](const DetectionImage& image) { return !keep(image); });
  keep_boxes(dataset, ids, found);
}

DetectionSets split_by_time(DetectionDataset dataset, double val_fraction) {
  if (!(val_fraction >= 0 && val_fraction < 1))
    throw Error(ErrorKind::kConfig, "[data] the share of validation images must be at least 0 and below 1");
  std::map<std::string, std::vector<std::int64_t>> frames;  // frames with an entry, by video
  for (const DetectionImage& image : dataset.images)
    if (const auto place = frame_place(image)) frames[place->sequence].push_back(place->frame);
  std::map<std::string, std::int64_t> first_held_out;
  for (auto& [video, numbers] : frames) {
    std::sort(numbers.begin(), numbers.end());
    const std::size_t count = numbers.size();
    const auto share = static_cast<std::size_t>(std::llround(val_fraction * static_cast<double>(count)));
    const std::size_t held_out = std::clamp<std::size_t>(share, val_fraction > 0 && count > 1 ? 1 : 0, count - 1);
    if (held_out > 0) first_held_out[video] = numbers[count - held_out];
  }
  DetectionSets sets;
  sets.train = {.source = dataset.source, .classes = dataset.classes, .images = {}, .notes = std::move(dataset.notes)};
  sets.val = {.source = dataset.source, .classes = dataset.classes, .images = {}, .notes = {}};
  for (DetectionImage& image : dataset.images) {
    const auto place = frame_place(image);
    const auto first = place ? first_held_out.find(place->sequence) : first_held_out.end();
    const bool held_out = first != first_held_out.end() && place->frame >= first->second;
    (held_out ? sets.val : sets.train).images.push_back(std::move(image));
  }
  return sets;
}

}  // namespace voxshard
