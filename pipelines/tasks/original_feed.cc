#include "pipelines/tasks/original_feed.h"

namespace voxshard {

Feed original_feed(const ModelSpec& spec, const Shape& extents) {
  const double points = static_cast<double>(element_count(extents));
  if (!spec.detects()) {
    const double bytes = 4.0 * static_cast<double>(spec.unet.channels + spec.unet.classes) * points;
    return {.record_bytes = bytes, .transfer_bytes = bytes};
  }
  constexpr double kTargetBytes = 4 + 4 * 4;  // of one anchor
  double anchors = 0;
  for (const AnchorLevel& level : anchor_levels({extents[1], extents[2]}, anchor_options(spec.retinanet)))
    anchors += static_cast<double>(extents[0] * level.count());
  return {.transfer_bytes = 2.0 * static_cast<double>(spec.retinanet.channels) * points + kTargetBytes * anchors};
}

}  // namespace voxshard
