#include "pipelines/tasks/classification/find_videos.h"

#include <algorithm>
#include <map>

#include "io/files/file_name.h"
#include "io/video/video_copy.h"
#include "io/video/video_reader.h"
#include "pipelines/tasks/classification/scores/classify_batch.h"
#include "pipelines/tasks/video_info.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

/// Describes a video by its headers and packets. Errors: kInput as VideoReader; E_CLIP; E_SIZE.
FoundVideo described(const std::string& name, const fs::path& file, const ClassPreparation& p, const ClipSteps& steps,
                     const VideoReadOptions& reading) {
  const VideoReader video(file, reading);
  const VideoStream& stream = video.stream();
  FoundVideo found{.name = name,
                   .file = file,
                   .frames = video.index().size(),
                   .pixels = stream.height * stream.width,
                   .drawn_pixels = drawn_pixels(stream.height, stream.width)};
  if (found.frames < steps.reach())
    throw Error(ErrorKind::kInput, "E_CLIP",
                "[input] " + file.string() + ": has " + std::to_string(found.frames) + " frames, fewer than the " +
                    std::to_string(steps.reach()) + " that a clip of the model takes (" + std::to_string(steps.length) +
                    ", stride " + std::to_string(steps.stride) + "); give a longer video, or train on shorter clips");
  const Dims canvas = canvas_of({.file = file, .size = {steps.length, stream.height, stream.width}}, p);
  found.extents = {1, canvas[0], canvas[1], canvas[2]};
  if (video.index().decoded) found.scan = video.scan();
  return found;
}

}  // namespace

FoundVideos find_videos(const fs::path& input, const ClassPreparation& p, const ClipSteps& steps,
                        std::int64_t most_pixels, int threads, const ClassKinds& kinds, const InputNaming* below) {
  std::error_code error;
  if (!fs::exists(input, error))
    throw Error(ErrorKind::kInput, "[predict] " + input.string() +
                                       " does not exist; give a video, a folder of them, or a data set of classes");
  FoundVideos found;
  std::map<std::string, fs::path> files;  // by name
  if (below != nullptr) {
    const std::vector<fs::path> all = inputs_below(input, "video", is_video_name, found.foreign);
    NamedInputs named = name_inputs(all, *below);
    for (std::size_t i = 0; i < all.size(); ++i) files[named.names[i]] = all[i];
    found.paths = std::move(named.paths);
  } else if (fs::is_directory(input, error)) {
    for (const fs::path& file : video_files(input)) files[file.filename().string()] = file;
  }
  found.labelled = files.empty() && find_class_parts(input, kinds).any();
  found.lie_beside = !files.empty() && below == nullptr && labelled_parts(input, kinds).any();
  if (found.labelled) {
    files = class_files(unseen_part(input, kinds), {.items = ItemKind::kClip}, found.failures);
  } else if (!fs::is_directory(input, error)) {
    files[input.filename().string()] = input;
  }
  if (files.empty())
    throw Error(ErrorKind::kNoCase, "[predict] " + input.string() + " holds no video and is no data set of classes" +
                                        none_found_text(text_of(foreign_in(input))));
  std::map<Dims, std::int64_t> most_windows;  // by canvas
  const auto canvas_of_video = [](const FoundVideo& v) { return Dims{v.extents[1], v.extents[2], v.extents[3]}; };
  for (const auto& [name, file] : files)
    in_case_boundary(
        name, found.failures, [&, &name = name, &file = file] {  // named: clang 14 captures no structured binding
          require_utf8_name(name);
          found.list.push_back(described(name, file, p, steps, {.threads = threads, .most_pixels = most_pixels}));
          std::int64_t& most = most_windows[canvas_of_video(found.list.back())];
          most = std::max(most, ClipWindows(found.list.back().frames, steps).count());
        });
  for (FoundVideo& video : found.list) {
    const Dims canvas = canvas_of_video(video);
    video.extents[0] = samples_at_once(canvas, most_windows.at(canvas));
  }
  return found;
}

}  // namespace voxshard
