// tf.Example, the content of one record in TensorFlow's input files: named features, each a list of byte strings,
// floats or integers. Read and written through protobuf (tf_example.proto); no TensorFlow is needed.
//
//   TfExample example = parse_example(record);
//   const std::string& voxels = bytes_feature(example, "image/ct_image");
//   example.features["image/height"] = Int64List{480};
//   writer.write(serialized(example));
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace voxshard {

using BytesList = std::vector<std::string>;
using FloatList = std::vector<float>;
using Int64List = std::vector<std::int64_t>;
using TfFeature = std::variant<std::monostate, BytesList, FloatList, Int64List>;

struct TfExample {
  std::map<std::string, TfFeature> features;
  bool has(const std::string& name) const { return features.contains(name); }
};

/// Limits on the objects in a record: an empty byte string takes two bytes in the file and 40 in memory.
inline constexpr std::int64_t kMostFeatures = 4096, kMostStrings = 1'000'000, kMostWholeNumbers = 10'000'000;

/// Parses a record. Errors: kInput E_EXAMPLE for bytes that are no tf.Example, E_SIZE beyond the limits above.   Cost:
/// twice the record's bytes in memory.
TfExample parse_example(std::string_view record);
/// Serialises an example with its features sorted by name: the same example gives the same bytes. Errors: kInput E_SIZE
/// beyond 2 GiB - 1.
std::string serialized(const TfExample& example);

/// Return a feature by its name. Errors: kInput E_FEATURE "has no feature image/encoded; expected byte strings", "has
/// floats as the feature image/encoded; expected byte strings"; the functions for one value also throw when there are
/// none or several. A feature without a kind is an empty list.
const BytesList& bytes_list(const TfExample& example, const std::string& name);
const FloatList& float_list(const TfExample& example, const std::string& name);
const Int64List& int64_list(const TfExample& example, const std::string& name);
const std::string& bytes_feature(const TfExample& example, const std::string& name);
std::int64_t int64_feature(const TfExample& example, const std::string& name);

}  // namespace voxshard
