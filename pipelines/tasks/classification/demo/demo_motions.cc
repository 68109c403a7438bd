#include "pipelines/tasks/classification/demo/demo_motions.h"

#include <algorithm>

#include "io/output/output_folder.h"
#include "pipelines/phantoms/motion_phantom.h"
#include "pipelines/phantoms/phantom.h"
#include "pipelines/tasks/classification/demo/grey_video.h"
#include "pipelines/tasks/first_training.h"

namespace voxshard {
namespace {

constexpr int kFrames = 32;

}  // namespace

DemoReport demo_motions(const DemoOptions& options, int magnify, Progress& progress) {
  const int train = options.cases.value_or(240), test = options.test_cases.value_or(60), total = train + test;
  const int side = 32 * magnify;
  OutputFolder folder({.folder = options.folder, .command = "demo", .inputs = {}, .option = ""});
  std::set<std::string> parts;
  for (int i = 0; i < total; ++i) parts.insert(demo_id(i));
  folder.start({.options = demo_hash(options, train, test), .parts = parts});
  for (const char* part : {"train", "test"})
    for (const char* motion : kMotionNames)
      if (part == std::string("train") || test > 0) make_output_folder(options.folder / part / motion);
  make_demo_cases(options, total, "clips", progress, [&](int index) {
    const MotionPhantom phantom =
        make_motion_phantom({.seed = options.seed, .index = index, .side = side, .frames = kFrames});
    const std::string id = demo_id(index), path = std::string(index < train ? "train/" : "test/") +
                                                  kMotionNames.at(static_cast<std::size_t>(phantom.label)) + "/" + id +
                                                  ".mp4";
    folder.begin(id, {path});
    write_grey_video(options.folder / path, phantom.frames);
    folder.commit(id, "");
    return path;
  });
  const FirstTraining first =
      first_training({"train", options.folder.string(), "{output}", "run", "{model}", "r2plus1d18", "{batch}", "8"},
                     {"{base-filters}", "8"});
  return {.cases = train,
          .test_cases = test,
          .points = static_cast<std::int64_t>(total) * kFrames * side * side,
          .point = "pixels",
          .next = first.words,
          .note = first.note};
}

}  // namespace voxshard
