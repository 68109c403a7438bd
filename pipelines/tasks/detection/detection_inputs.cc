#include "pipelines/tasks/detection/detection_inputs.h"

#include <algorithm>

#include "io/image/image.h"
#include "libcore/planner/budget.h"
#include "pipelines/engine/predicted_file.h"
#include "pipelines/tasks/detection/samples/image_memory.h"
#include "pipelines/tasks/detection/samples/image_preparation.h"

namespace voxshard {

DetectionInputs::DetectionInputs(PredictionBatch& batch, const DetectionPrediction& detection,
                                 const TrainedDetector& detector)
    : b_(batch),
      o_(batch.options),
      d_(detection),
      detector_(detector),
      reader_({.most_pixels = detection.most_pixels}) {
  if (o_.recursive) {
    ForeignFiles foreign;
    images_ = find_images_below(input_naming(o_, d_.keep_names), paths_, foreign);
    b_.leave(std::move(foreign), d_.keep_names);
  } else {
    images_ = find_input_images(o_.input, detection.video.frames, detection.most_pixels, detection.formats);
  }
  b_.list(images_.failures);
}

std::vector<std::string> DetectionInputs::names() const {
  std::vector<std::string> names;
  for (const FoundImage& image : images_.list) names.push_back(image.shown());
  return names;
}

std::vector<PredictionTurn> DetectionInputs::turns() const {
  std::vector<PredictionTurn> turns;
  for (std::size_t i = 0; i < images_.list.size(); ++i) turns.push_back({planned_extents(images_.list[i]), {i}});
  return turns;
}

BytesBeside DetectionInputs::bytes_beside(std::size_t /*model*/) const {
  constexpr std::int64_t kChannels = 3;
  std::int64_t most = 0, bytes = 0;
  for (const FoundImage& image : images_.list) {
    const Shape extents = planned_extents(image);
    if (extents.empty()) continue;
    const std::int64_t pixels = element_count(extents);
    if (pixels <= most) continue;
    const ImageSize size = reader_.size(image.file);
    const std::int64_t held = beside_cores(size, std::max(pixels, size.height * size.width)).total();
    most = pixels, bytes = std::max<std::int64_t>(0, ceil_div(held, kChannels * pixels) - kImageElementBytes);
  }
  return {.staying = bytes, .in_turns = bytes};
}

bool DetectionInputs::fits(const PredictionTurn& turn) const {
  const FoundImage& image = images_.list.at(turn.inputs.front());
  return b_.fits(b_.planned().held + b_.cores(turn) + beside_cores(image, turn.extents));
}

void DetectionInputs::begin() { make_folder_of(o_.output); }

void DetectionInputs::require_image_fits(const FoundImage& image) {
  const Shape extents = extents_of(image);
  const PredictionTurn turn{extents, {}};
  const ImageSize size = reader_.size(image.file);
  const std::int64_t pixels = std::max(extents[1] * extents[2], size.height * size.width),
                     most = b_.context.budget_bytes();
  const ProcessPlan reading = beside_cores(image, extents);
  b_.require_planned(turn, reading);
  const ProcessPlan plan = b_.planned().held + b_.cores(turn) + reading;
  const double held = static_cast<double>(b_.planned().held.total());
  const double share = (static_cast<double>(most) - held) / (static_cast<double>(plan.total()) - held);
  require_fits(plan, most, ErrorKind::kInput, image.shown(),
               share > 0
                   ? std::to_string(planned_bytes(share * static_cast<double>(pixels))) + " pixels would fit: cut it"
                   : std::string(),
               [&] { return b_.would_do(turn, plan, b_.cores(turn).total()); });
  b_.takes(plan);
}

std::vector<Detection> DetectionInputs::found_in(const Tensor& pixels) {
  std::vector<Detection> found =
      predict_image(b_.session(), normalised(pixels, detector_.preparation), detector_.prediction);
  std::erase_if(found, [&](const Detection& d) { return d.score < d_.min_score; });
  return found;
}

Shape DetectionInputs::extents_of(const FoundImage& image) const {
  const ImageSize size = reader_.size(image.file);
  return image_extents({size.height, size.width}, detector_.prediction.pad_multiple, detector_.prediction.output_size);
}

Shape DetectionInputs::planned_extents(const FoundImage& image) const {
  try {
    return extents_of(image);
  } catch (const Error&) {
    return {};
  }
}

ProcessPlan DetectionInputs::beside_cores(const ImageSize& size, std::int64_t pixels) const {
  return reading_image_plan(pixels, frames()) + drawing_plan(size);
}

ProcessPlan DetectionInputs::beside_cores(const FoundImage& image, const Shape& extents) const {
  const ImageSize size = reader_.size(image.file);
  return beside_cores(size, std::max(extents[1] * extents[2], size.height * size.width));
}

std::int64_t DetectionInputs::frames() const {
  return std::ranges::count_if(images_.list,
                               [](const FoundImage& p) { return image_address(p.file).frame.has_value(); });
}

}  // namespace voxshard
