// The objects in a record are counted in its wire format before protobuf allocates them.
#include "io/records/tf_example.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <tf_example.pb.h>

#include <limits>

#include "libcore/base/error.h"

namespace voxshard {
namespace {

using google::protobuf::io::ArrayInputStream;
using google::protobuf::io::CodedInputStream;

Error example_error(const char* code, const std::string& what) { return Error(ErrorKind::kInput, code, what); }

struct Counts {
  std::int64_t features = 0, strings = 0, numbers = 0;
};

/// Counts the objects of a message whose length is known; `level`: 0 Example, 1 Features, 2 an entry, 3 Feature, 4 one
/// of the lists. Ends early once there are too many. Returns false for a malformed message, or when a nested call ended
/// early.
bool count(CodedInputStream& in, int level, int list, Counts& counts) {
  while (const std::uint32_t tag = in.ReadTag()) {
    const std::uint32_t field = tag >> 3, type = tag & 7;
    if (type == 0 || type == 1 || type == 5) {
      std::uint64_t ignored = 0;
      std::uint32_t ignored32 = 0;
      if (level == 4) ++counts.numbers;
      if (!(type == 0   ? in.ReadVarint64(&ignored)
            : type == 1 ? in.ReadLittleEndian64(&ignored)
                        : in.ReadLittleEndian32(&ignored32)))
        return false;
      continue;
    }
    std::uint32_t length = 0;
    if (type != 2 || !in.ReadVarint32(&length)) return false;  // these messages have no groups
    if (length > static_cast<std::uint32_t>(std::numeric_limits<int>::max())) return false;
    if (level == 1 && field == 1) ++counts.features;
    if (level == 4) {
      if (list == 1) ++counts.strings;
      if (list == 3) counts.numbers += length;
    }
    const bool goes_on = level < 2 ? field == 1 : level == 2 ? field == 2 : level == 3 && field >= 1 && field <= 3;
    if (!goes_on) {
      if (!in.Skip(static_cast<int>(length))) return false;
    } else {
      const auto outer = in.PushLimit(static_cast<int>(length));
      if (!count(in, level + 1, level == 3 ? static_cast<int>(field) : 0, counts) || in.BytesUntilLimit() != 0)
        return false;
      in.PopLimit(outer);
    }
    if (counts.features > kMostFeatures || counts.strings > kMostStrings || counts.numbers > kMostWholeNumbers)
      return true;
  }
  return in.ConsumedEntireMessage() || in.BytesUntilLimit() == 0;
}

void bound(std::string_view record) {
  CodedInputStream in(reinterpret_cast<const std::uint8_t*>(record.data()), static_cast<int>(record.size()));
  Counts counts;
  const bool whole = count(in, 0, 0, counts);
  const auto refuse = [](std::int64_t most, const std::string& what) {
    throw example_error(
        "E_SIZE", "has more than " + std::to_string(most) + " " + what + "; check that it is the file that was meant");
  };
  if (counts.features > kMostFeatures) refuse(kMostFeatures, "features");
  if (counts.strings > kMostStrings) refuse(kMostStrings, "byte strings");
  if (counts.numbers > kMostWholeNumbers) refuse(kMostWholeNumbers, "whole numbers");
  if (!whole) throw example_error("E_EXAMPLE", "is no tf.Example; check that it is the file that was meant");
}

TfFeature taken(wire::Feature& feature) {
  switch (feature.kind_case()) {
    case wire::Feature::kBytesList: {
      BytesList list;
      for (auto& value : *feature.mutable_bytes_list()->mutable_value()) list.push_back(std::move(value));
      return list;
    }
    case wire::Feature::kFloatList:
      return FloatList(feature.float_list().value().begin(), feature.float_list().value().end());
    case wire::Feature::kInt64List:
      return Int64List(feature.int64_list().value().begin(), feature.int64_list().value().end());
    default:
      return std::monostate{};
  }
}

template <class List>
const List& list_of(const TfExample& example, const std::string& name, const char* expected) {
  const auto found = example.features.find(name);
  if (found == example.features.end())
    throw example_error("E_FEATURE", "has no feature " + name + "; expected " + expected);
  if (const auto* list = std::get_if<List>(&found->second)) return *list;
  static const List kNone;
  if (std::holds_alternative<std::monostate>(found->second)) return kNone;
  constexpr const char* kKinds[] = {"", "byte strings", "floats", "whole numbers"};
  throw example_error("E_FEATURE", "has " + std::string(kKinds[found->second.index()]) + " as the feature " + name +
                                       "; expected " + expected);
}

template <class List>
const auto& one_of(const List& list, const std::string& name) {
  if (list.size() != 1)
    throw example_error("E_FEATURE",
                        "has " + std::to_string(list.size()) + " values in the feature " + name + "; expected one");
  return list.front();
}

}  // namespace

TfExample parse_example(std::string_view record) {
  ensure(record.size() <= static_cast<std::size_t>(std::numeric_limits<int>::max()), "a record is at most 2 GiB");
  bound(record);
  wire::Example message;
  if (!message.ParseFromArray(record.data(), static_cast<int>(record.size())))
    throw example_error("E_EXAMPLE", "is no tf.Example; check that it is the file that was meant");
  TfExample example;
  for (auto& [name, feature] : *message.mutable_features()->mutable_feature()) example.features[name] = taken(feature);
  return example;
}

std::string serialized(const TfExample& example) {
  wire::Example message;
  auto& features = *message.mutable_features()->mutable_feature();
  for (const auto& [name, value] : example.features) {
    wire::Feature& feature = features[name];
    if (const auto* bytes = std::get_if<BytesList>(&value))
      for (const auto& one : *bytes) feature.mutable_bytes_list()->add_value(one);
    if (const auto* floats = std::get_if<FloatList>(&value))
      feature.mutable_float_list()->mutable_value()->Add(floats->begin(), floats->end());
    if (const auto* numbers = std::get_if<Int64List>(&value))
      feature.mutable_int64_list()->mutable_value()->Add(numbers->begin(), numbers->end());
  }
  if (message.ByteSizeLong() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw Error(ErrorKind::kInput, "E_SIZE",
                "takes " + std::to_string(message.ByteSizeLong()) +
                    " bytes as a tf.Example, which can have 2147483647; write smaller samples, or labels as an index");
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream out(&stream);
  out.SetSerializationDeterministic(true);
  message.SerializeToCodedStream(&out);
  out.Trim();
  return bytes;
}

const BytesList& bytes_list(const TfExample& example, const std::string& name) {
  return list_of<BytesList>(example, name, "byte strings");
}
const FloatList& float_list(const TfExample& example, const std::string& name) {
  return list_of<FloatList>(example, name, "floats");
}
const Int64List& int64_list(const TfExample& example, const std::string& name) {
  return list_of<Int64List>(example, name, "whole numbers");
}
const std::string& bytes_feature(const TfExample& example, const std::string& name) {
  return one_of(bytes_list(example, name), name);
}
std::int64_t int64_feature(const TfExample& example, const std::string& name) {
  return one_of(int64_list(example, name), name);
}

}  // namespace voxshard
