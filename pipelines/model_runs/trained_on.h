// What a run was trained on, by content, so that it is known again under another name and elsewhere; and which inputs
// of a prediction are among it.
//
//   TrainedOn trained({file_hash("a.png"), file_hash("b.png")});
//   trained.contains(file_hash("copy_of_b.png"))        // true
//
// A checkpoint carries it (CheckpointState::trained_on), predict asks it and marks what it finds, evaluate repeats
// that.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace voxshard {

/// A set of content hashes, of which the first 64 bits are kept: of a million inputs against a million items one is
/// mistaken by chance with a probability of 5e-8.
class TrainedOn {
 public:
  TrainedOn() = default;
  /// `keys`: at least 16 hexadecimal digits each, in any order.
  explicit TrainedOn(const std::vector<std::string>& keys);

  bool contains(const std::string& key) const;
  void add(const TrainedOn& other);

  /// {"count", "keys"}: all keys in one text of 16 digits each.
  nlohmann::json to_json() const;
  /// Errors: kCheckpoint for anything else.
  static TrainedOn from_json(const nlohmann::json& json);

 private:
  std::vector<std::uint64_t> keys_;  // ascending, each once
};

/// Of the inputs of a prediction, by the names that evaluate finds them by: an item, a case, "17 a.png" of the image
/// with the id 17.
struct SeenInputs {
  std::int64_t inputs = 0;              // in all
  std::vector<std::string> trained_on;  // predicted though the run was trained on them
  std::vector<std::string> left_out;    // not predicted, since it was
  bool any() const { return !trained_on.empty() || !left_out.empty(); }
};

/// "trained_on" and "left_out_as_trained_on", the numbers.
void add_counts(nlohmann::ordered_json& json, const SeenInputs& seen);

}  // namespace voxshard
