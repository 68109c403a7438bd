#include "pipelines/tasks/detection/next_of_detections.h"

#include "io/video/stream.h"
#include "libcore/base/text.h"
#include "pipelines/engine/predicted_file.h"
#include "pipelines/tasks/detection/dataset/find_input_images.h"

namespace voxshard {

std::vector<std::string> next_of_detections(const PredictOptions& o, const DetectionPrediction& d) {
  const std::string output = o.output.string(), input = o.input.string();
  if (!o.recursive && is_data_set(o.input, d.formats)) {
    std::vector<std::string> words = {"evaluate", output, input, "{output}", beside_output(o, "scores.json").string()};
    const FrameChoice& frames = d.frames;
    if (!frames.range.empty()) words.insert(words.end(), {"{range}", frames.range});
    if (frames.stride) words.insert(words.end(), {"{stride}", std::to_string(*frames.stride)});
    if (!frames.per_second.empty()) words.insert(words.end(), {"{fps}", frames.per_second});
    return words;
  }
  if (!d.draw.empty()) return {"info", d.draw.string()};
  const std::string drawn = beside_output(o, is_video_name(o.input) ? "drawn.mp4" : "drawn").string();
  std::vector<std::string> words = {"predict", o.run.string(), input, "{output}", output, "{draw}", drawn};
  if (o.recursive) words.emplace_back("{recursive}");
  if (d.keep_names) words.emplace_back("{keep-names}");
  if (d.min_score > 0) words.insert(words.end(), {"{min-score}", number_text(d.min_score)});
  return words;
}

}  // namespace voxshard
