// The data that a run was trained on, as content hashes, so that it is recognised under another name or path; and the
// inputs of a prediction that are among it.
//
//   TrainedOn trained({file_hash("a.png"), file_hash("b.png")});
//   trained.contains(file_hash("copy_of_b.png"))        // true
//
// A checkpoint stores it (CheckpointState::trained_on); predict marks inputs that it contains, and evaluate reports
// these marks.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace voxshard {

/// A set of content hashes, of which the first 64 bits are kept: for a million inputs and a million items the
/// probability of a false match is 5e-8.
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

/// The inputs of a prediction that the run was trained on, by the names that evaluate uses: an item, a case, "17 a.png"
/// for the image with the id 17.
struct SeenInputs {
  std::int64_t inputs = 0;              // number of all inputs
  std::vector<std::string> trained_on;  // predicted although the run was trained on them
  std::vector<std::string> left_out;    // not predicted, because the run was trained on them
  bool any() const { return !trained_on.empty() || !left_out.empty(); }
};

/// Adds the numbers "trained_on" and "left_out_as_trained_on".
void add_counts(nlohmann::ordered_json& json, const SeenInputs& seen);

}  // namespace voxshard
