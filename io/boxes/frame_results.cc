#include "io/boxes/frame_results.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "io/boxes/coco.h"
#include "io/boxes/mot.h"
#include "io/files/atomic_file.h"
#include "libcore/base/error.h"

namespace voxshard {
namespace {

using Json = nlohmann::ordered_json;

/// A list in JSON that is written item by item, each on its own line.
class JsonList {
 public:
  void add(std::ostream& out, const Json& item) {
    out << (first_ ? "\n" : ",\n") << item.dump();
    first_ = false;
  }

 private:
  bool first_ = true;
};

void open(std::optional<AtomicFile>& file, const std::filesystem::path& path) {
  if (!path.empty()) file.emplace(path);
}

}  // namespace

struct FrameResultsWriter::Impl {
  std::vector<DetectionClass> classes;
  std::optional<AtomicFile> json, coco, mot;
  JsonList frames, results;

  void write_json(const FrameResult& frame) {
    Json detections = Json::array();
    for (std::size_t i = 0; i < frame.boxes.size(); ++i) {
      const DetectionClass& c = class_of(frame.boxes[i]);
      const Json result = coco_result(frame.boxes[i], frame.number, c);
      detections.push_back({{"category", c.name},
                            {"category_id", c.id},
                            {"bbox", result.at("bbox")},
                            {"score", result.at("score")},
                            {"track", frame.tracks[i] < 0 ? Json() : Json(frame.tracks[i])}});
    }
    frames.add(
        json->stream(),
        {{"index", frame.number}, {"pts", frame.pts_ticks}, {"seconds", frame.seconds}, {"detections", detections}});
  }

  void write_coco(const FrameResult& frame) {
    for (const ScoredBox& box : frame.boxes) results.add(coco->stream(), coco_result(box, frame.number, class_of(box)));
  }

  void write_mot(const FrameResult& frame) {
    for (std::size_t i = 0; i < frame.boxes.size(); ++i)
      mot->stream() << mot_line({.frame = frame.number + 1,
                                 .track = frame.tracks[i],
                                 .box = frame.boxes[i].box,
                                 .confidence = frame.boxes[i].score,
                                 .class_id = mot_class(class_of(frame.boxes[i]))});
  }

  /// Returns the id of a class; where one is below 1, which MOT text does not know, its place among all, from 1 on.
  std::int64_t mot_class(const DetectionClass& c) const {
    const bool are_known = std::ranges::all_of(classes, [](const DetectionClass& one) { return one.id > 0; });
    return are_known ? c.id : &c - classes.data() + 1;
  }

  const DetectionClass& class_of(const ScoredBox& box) const {
    ensure(box.category >= 0 && static_cast<std::size_t>(box.category) < classes.size(),
           "a detection is of a known class");
    return classes[box.category];
  }
};

void require_result_files(const FrameResultFiles& files, const std::vector<std::filesystem::path>& inputs) {
  const OutputKind json = {"detections of voxshard predict", {".json"}, begins_with({R"({"video":")"})};
  require_output_file(files.json, json, {.inputs = inputs});
  require_output_file(files.coco, coco_results_file(), {.inputs = inputs, .option = "{coco}"});
  require_output_file(files.mot, mot_results_file(), {.inputs = inputs, .option = "{mot}"});
}

FrameResultsWriter::FrameResultsWriter(const FrameResultFiles& files, const ResultVideo& video,
                                       std::vector<DetectionClass> classes)
    : impl_(std::make_unique<Impl>()) {
  impl_->classes = std::move(classes);
  open(impl_->json, files.json);
  open(impl_->coco, files.coco);
  open(impl_->mot, files.mot);
  if (impl_->coco) impl_->coco->stream() << "[";
  if (!impl_->json) return;
  Json categories = Json::array();
  for (const DetectionClass& c : impl_->classes) categories.push_back({{"id", c.id}, {"name", c.name}});
  std::string head = Json{
      {"video", video.file.string()},
      {"time_base", rational_text(video.time_base)},
      {"width", video.width},
      {"height", video.height},
      {"categories",
       categories}}.dump(-1, ' ', false, Json::error_handler_t::replace);
  head.pop_back();  // the brace is closed by close()
  impl_->json->stream() << head << ",\"frames\":[";
}

FrameResultsWriter::~FrameResultsWriter() = default;

void FrameResultsWriter::write(const FrameResult& frame) {
  ensure(frame.boxes.size() == frame.tracks.size(), "each detection has a track or -1");
  if (impl_->json) impl_->write_json(frame);
  if (impl_->coco) impl_->write_coco(frame);
  if (impl_->mot) impl_->write_mot(frame);
}

void FrameResultsWriter::close(const std::vector<std::string>& notes, bool complete) {
  if (impl_->json)
    impl_->json->stream() << "\n],\"notes\":" << Json(notes).dump() << ",\"complete\":" << (complete ? "true" : "false")
                          << "}\n";
  if (impl_->coco) impl_->coco->stream() << "\n]\n";
  for (auto* file : {&impl_->json, &impl_->coco, &impl_->mot})
    if (*file) (*file)->commit(complete);
}

}  // namespace voxshard
