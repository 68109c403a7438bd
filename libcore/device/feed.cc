#include "libcore/device/feed.h"

namespace voxshard {

Feed feed_of(const Graph& graph, const RecordFormat& format) {
  constexpr double kOneHotBytes = 4;
  Feed feed;
  for (const Node& node : graph.nodes()) {
    if (node.role != Role::kInput) continue;
    const auto numbers = static_cast<double>(element_count(node.type.shape)),
               bytes = static_cast<double>(node.type.bytes());
    feed.input_bytes += bytes;
    const auto* labels = std::get_if<input::Labels>(&node.input);
    if (std::holds_alternative<input::Image>(node.input)) {
      feed.transfer_bytes += format.image_bytes * numbers;
      feed.record_bytes += format.unpacked_image_bytes * numbers;
    } else if (labels != nullptr && format.one_hot) {
      const double one_hot = kOneHotBytes * static_cast<double>(labels->classes) * numbers;
      feed.transfer_bytes += one_hot;
      if (format.unpacked_image_bytes > 0) feed.record_bytes += one_hot;
    } else {
      feed.transfer_bytes += bytes;
    }
  }
  return feed;
}

}  // namespace voxshard
