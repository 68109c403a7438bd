// Videos of classes in a temporary folder, for the tests of clips.
//
//   ClipScene scene("clips");
//   scene.video("data/left/a.mp4", 40, {.height = 12, .width = 16});      // 40 frames, 25 a second, no two alike
#pragma once

#include "io/video/video_reader.h"
#include "io/video/video_writer.h"
#include "pipelines/tasks/classification/dataset/class_clips.h"
#include "tests/pipelines/tasks/classification/class_scene.h"

namespace voxshard {

struct ClipScene : ClassScene {
  using ClassScene::ClassScene;

  struct FrameLook {
    std::int64_t height = 16, width = 24;
    int ground = 60;  // grey level of the first frame
    int step = 3;     // from frame to frame, and from column to column
  };

  void video(const std::string& name, int frames) const { video(name, frames, FrameLook()); }
  void video(const std::string& name, int frames, const FrameLook& p) const {
    std::filesystem::create_directories(path(name).parent_path());
    VideoWriter out(path(name), {.width = p.width, .height = p.height});
    Tensor rgb(DType::kU8, {p.height, p.width, 3});
    for (int t = 0; t < frames; ++t) {
      for (std::int64_t i = 0; i < rgb.count(); ++i)
        rgb.as<std::uint8_t>()[i] =
            static_cast<std::uint8_t>(std::min<std::int64_t>(255, p.ground + p.step * (t % 32 + i / 3 % p.width)));
      out.write(rgb, t);
    }
    out.close();
  }
  /// Writes dark and bright videos of 16 frames, eight of each by default.
  void dark_and_bright_videos(const std::string& folder, int each = 8, int frames = 16) const {
    for (int i = 0; i < each; ++i)
      for (const bool bright : {false, true})
        video(folder + (bright ? "/bright/" : "/dark/") + std::to_string(i) + ".mp4", frames,
              {.height = 8, .width = 10, .ground = bright ? 180 + i : 20 + i, .step = 1});
  }
  TrainOptions toy_clips(const std::string& run) const {
    TrainOptions o = toy(run, 3);
    o.batch = 2, o.task.of<ClassTaskOptions>().clip_length = 4;
    return o;
  }
  std::vector<ClassItem> clips(const std::string& name, std::int64_t length = 16, std::int64_t stride = 1,
                               const std::optional<ClassInterval>& interval = std::nullopt) const {
    return ClipFinder({.items = ItemKind::kClip, .clip_length = length, .clip_stride = stride})
        .clips(path(name), name, interval);
  }
  static std::vector<std::string> names_of(const std::vector<ClassItem>& items) {
    std::vector<std::string> list;
    for (const ClassItem& item : items) list.push_back(item.name);
    return list;
  }
};

}  // namespace voxshard
