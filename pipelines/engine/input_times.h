// An estimate of the time that inputs take, for a dry run: from what an earlier call measured, else from the measured
// rates of this machine, which know the network but neither reading nor writing.
//
//   InputTimes times(batch, {.seconds = 12.5, .elements = 1'000'000});
//   times.seconds_of(turn)       // 2.5
//   times.text(150)              // "about 2 min 30 s by an estimate from what an earlier call took"
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "io/output/manifest.h"
#include "libcore/device/device.h"

namespace voxshard {

class PredictionBatch;
struct PredictionTurn;

class InputTimes {
 public:
  ///   earlier  what inputs of an earlier call took, by elements of what the model sees; none: elements is 0
  InputTimes(PredictionBatch& batch, const PartTime& earlier);

  /// Returns the seconds of a turn; none where nothing was measured, or the rates have no price for the model.
  std::optional<double> seconds_of(const PredictionTurn& turn);

  /// "earlier", "host" or "none".
  const char* source() const;
  /// Returns a clause about so many seconds in all, which says what it was estimated from; where there is no estimate,
  /// what gives one.
  std::string text(double seconds) const;

 private:
  std::optional<double> priced(const PredictionTurn& turn);

  PredictionBatch& batch_;
  PartTime earlier_;
  std::shared_ptr<const Device> host_;                  // null: not measured
  std::map<std::string, std::optional<double>> known_;  // by extents of all models
};

}  // namespace voxshard
