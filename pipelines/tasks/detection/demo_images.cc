#include "pipelines/tasks/detection/demo_images.h"

#include <atomic>

#include "io/boxes/coco.h"
#include "io/image/image.h"
#include "io/output/output_folder.h"
#include "pipelines/phantoms/detection_phantom.h"
#include "pipelines/phantoms/phantom.h"
#include "pipelines/tasks/first_training.h"

namespace voxshard {

DemoReport demo_images(const DemoOptions& options, int magnify, Progress& progress) {
  const int train = options.cases.value_or(120), val = options.test_cases.value_or(30), total = train + val;
  OutputFolder folder({.folder = options.folder, .command = "demo", .inputs = {}, .option = ""});
  std::set<std::string> parts = {"annotations"};
  for (int i = 0; i < total; ++i) parts.insert(demo_id(i));
  folder.start({.options = demo_hash(options, train, val), .parts = parts});
  for (const char* part : {"annotations", "train", "val"}) make_output_folder(options.folder / part);
  std::vector<DetectionImage> images(static_cast<std::size_t>(total));
  std::atomic<std::int64_t> pixels{0};
  make_demo_cases(options, total, "pictures", progress, [&](int i) {
    const auto phantom = make_detection_phantom({.seed = options.seed, .index = i, .magnify = magnify});
    const std::string id = demo_id(i), path = (i < train ? "train/" : "val/") + id + ".png";
    DetectionImage& image = images[i];
    image = {.file = id + ".png",
             .id = i + 1,
             .width = phantom.pixels.shape()[1],
             .height = phantom.pixels.shape()[0],
             .boxes = phantom.boxes};
    folder.begin(id, {path});
    write_rgb(options.folder / path, phantom.pixels);
    folder.commit(id, "");
    pixels += image.width * image.height;
    return image.file.string();
  });
  folder.begin("annotations", {"annotations/instances_train.json", "annotations/instances_val.json"});
  for (const bool is_val : {false, true}) {
    const auto first = images.begin() + (is_val ? train : 0), past = is_val ? images.end() : images.begin() + train;
    if (first == past) continue;
    write_coco(
        options.folder / "annotations" / (is_val ? "instances_val.json" : "instances_train.json"),
        {.source = options.folder, .classes = detection_phantom_classes(), .images = {first, past}, .notes = {}});
  }
  folder.commit("annotations", "");
  const FirstTraining first =
      first_training({"train", options.folder.string(), "{output}", "run", "{model}", "retinanet"}, {"{batch}", "2"});
  return {
      .cases = train, .test_cases = val, .points = pixels, .point = "pixels", .next = first.words, .note = first.note};
}

}  // namespace voxshard
