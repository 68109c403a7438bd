// A small detection set in a temporary folder, for the tests of pipelines: flat images and boxes given in the test.
//
//   DetectionScene scene("split");
//   scene.add_image(1, 64, 48, {{.category = 0, .box = {4, 4, 20, 10}, .area = 200}});
//   scene.write("set.json");
#pragma once

#include "io/boxes/coco.h"
#include "io/image/image.h"
#include "tests/pipelines/pipeline_scene.h"

namespace voxshard {

class DetectionScene : public Scene {
 public:
  explicit DetectionScene(const std::string& name) : Scene("detection_" + name) {
    set.classes = {{.name = "cell", .id = 3}, {.name = "nucleus", .id = 8}};
  }

  /// Writes image_ID.png and records its entry.
  void add_image(std::int64_t id, std::int64_t width, std::int64_t height, std::vector<TrueBox> boxes = {}) {
    const std::string file = "image_" + std::to_string(id) + ".png";
    write_rgb(path(file), Tensor(DType::kU8, {height, width, 3}));
    set.images.push_back({.file = file, .id = id, .width = width, .height = height, .boxes = std::move(boxes)});
  }
  std::filesystem::path write(const std::string& name) const {
    std::filesystem::create_directories(path(name).parent_path());
    write_coco(path(name), set);
    return path(name);
  }
  void write_text(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(path(name).parent_path());
    std::ofstream(path(name), std::ios::binary) << text;
  }

  DetectionDataset set;
};

inline std::vector<std::int64_t> ids_of(const DetectionDataset& set) {
  std::vector<std::int64_t> ids;
  for (const auto& image : set.images) ids.push_back(image.id);
  return ids;
}

inline std::vector<std::string> codes_of(const std::vector<EntryNote>& notes) {
  std::vector<std::string> codes;
  for (const auto& note : notes) codes.push_back(note.code);
  return codes;
}

}  // namespace voxshard
