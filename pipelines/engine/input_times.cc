#include "pipelines/engine/input_times.h"

#include "libcore/base/text.h"
#include "libcore/ops/op_table.h"
#include "pipelines/engine/prediction.h"
#include "pipelines/profile/device_files.h"

namespace voxshard {
namespace {

constexpr double kBytesOfANumber = 4;  // of the image, f32

/// Returns this machine as it was measured; null where it was not, or the measurement cannot be used.
std::shared_ptr<const Device> measured_host(int threads) {
  try {
    return host_device(threads);
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::kConfig) throw;
    return nullptr;
  }
}

}  // namespace

InputTimes::InputTimes(PredictionBatch& batch, const PartTime& earlier) : batch_(batch), earlier_(earlier) {
  if (earlier_.elements == 0) host_ = measured_host(batch.context.threads());
}

std::optional<double> InputTimes::seconds_of(const PredictionTurn& turn) {
  if (turn.extents.empty()) return std::nullopt;
  if (earlier_.elements > 0)
    return earlier_.seconds * static_cast<double>(element_count(turn.extents)) / static_cast<double>(earlier_.elements);
  if (host_ == nullptr) return std::nullopt;
  std::string key;
  for (std::size_t model = 0; model < batch_.models(); ++model) key += to_string(turn.extents_of(model)) + " ";
  const auto known = known_.find(key);
  return known != known_.end() ? known->second : known_[key] = priced(turn);
}

std::optional<double> InputTimes::priced(const PredictionTurn& turn) {
  double seconds = 0;
  try {
    for (std::size_t model = 0; model < batch_.models(); ++model) {
      const Shape& extents = turn.extents_of(model);
      const Program& program = batch_.session(model).plan(extents, Phase::kPredict).program;
      const Feed feed{.input_bytes = kBytesOfANumber * static_cast<double>(element_count(extents))};
      seconds += host_->price(program, op_table(), feed).step_s;
    }
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::kConfig) throw;
    return std::nullopt;  // an op without a measured rate
  }
  return seconds;
}

const char* InputTimes::source() const {
  return earlier_.elements > 0 ? "earlier" : host_ != nullptr ? "host" : "none";
}

std::string InputTimes::text(double seconds) const {
  const std::string about = seconds < 1 ? "less than 1 s" : "about " + duration_text(seconds);
  if (earlier_.elements > 0) return about + " by an estimate from what an earlier call took";
  if (host_ == nullptr) return "no estimate of the time: voxshard doctor measures this machine once";
  return about +
         " for the network by an estimate from the measured rates of this machine; reading and writing come in "
         "addition";
}

}  // namespace voxshard
