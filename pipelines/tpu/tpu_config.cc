// Reading and writing; the conditions are in tpu_config_check.cc.
#include "pipelines/tpu/tpu_config.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>

#include "libcore/base/spelling.h"
#include "pipelines/tpu/tpu_config_text.h"

namespace voxshard {
namespace {

using nlohmann::json;

constexpr std::array kInputModes = {"PER_SHARD_V1", "PER_HOST_V1", "PER_HOST_V2", "BROADCAST", "SLICED"};

Error config_error(const std::string& text) { return Error(ErrorKind::kConfig, "[tpu_config] " + text); }

bool is_none(const json& value) { return value.is_null() || (value.is_string() && (value == "None" || value == "")); }

bool is_list_of_numbers(const json& value) {
  return value.is_array() &&
         std::all_of(value.begin(), value.end(), [](const json& v) { return v.is_number_integer(); });
}

Error wrong_entry(const json& value) {
  return config_error(
      "input_partition_dims has the entry " + to_text(value, TextStyle::kPython) +
      "; expected None or a list of whole numbers, one per axis of the tensor, such as [1, 4, 1, 1, 1]");
}

void add_tensors(const json& value, const std::string& path, DimsByPath& tensors) {
  if (is_none(value)) {
    tensors[path] = std::nullopt;
  } else if (is_list_of_numbers(value)) {
    tensors[path] = value.get<std::vector<std::int64_t>>();
  } else if (value.is_structured()) {
    for (const auto& [key, entry] : value.items()) {  // the keys of a list are its positions
      if (value.is_array() && !entry.is_structured() && !is_none(entry)) throw wrong_entry(value);
      add_tensors(entry, path.empty() ? key : path + "/" + key, tensors);
    }
  } else {
    throw wrong_entry(value);
  }
}

InputPartitionDims dims_of_list(const json& list) {
  InputPartitionDims dims;
  if (!list.empty() && is_list_of_numbers(list)) {
    dims.one_list = true;
    dims.elements.push_back(DimsByPath{{"", list.get<std::vector<std::int64_t>>()}});
    return dims;
  }
  for (const json& element : list) {
    if (is_none(element)) {
      dims.elements.push_back(std::nullopt);
      continue;
    }
    if (!element.is_structured()) throw wrong_entry(list);
    DimsByPath tensors;
    add_tensors(element, "", tensors);
    dims.elements.push_back(std::move(tensors));
  }
  return dims;
}

std::optional<InputPartitionDims> dims_from_text(const std::string& text) {
  json value;
  try {
    value = value_from_text(text);
  } catch (const Error& e) {
    const auto better = mended(text, is_input_partition_dims);
    throw config_error(
        "input_partition_dims cannot be read: " + std::string(e.what()) +
        (better ? "; write input_partition_dims=" + *better : "; expected something like [[1, 4, 1, 1], None]"));
  }
  if (is_none(value)) return std::nullopt;
  if (!value.is_array())  // a text inside the text is not parsed again
    throw config_error("input_partition_dims is " + shown(value) +
                       "; expected a list [features, labels], such as [[1, 4, 1, 1], None]");
  return dims_of_list(value);
}

std::optional<std::int64_t> whole_number(const std::string& key, const json& value, const std::string& meaning) {
  if (is_none(value)) return std::nullopt;
  if (value.is_number_integer()) return value.get<std::int64_t>();
  std::int64_t number = 0;
  if (value.is_string()) {
    const auto text = value.get<std::string>();
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc() && stop == text.data() + text.size()) return number;
  }
  throw config_error(key + " is " + shown(value) + "; expected a whole number: " + meaning);
}

std::optional<std::int64_t> batch_size(const std::string& key, const json& value) {
  const auto size = whole_number(key, value, "the samples of a step over all replicas");
  if (size && *size < 1)
    throw config_error(key + " is " + std::to_string(*size) + "; expected at least one sample per replica");
  return size;
}

InputMode input_mode_from_json(const json& value) {
  if (value.is_boolean()) return value.get<bool>() ? InputMode::kPerHostV1 : InputMode::kPerShardV1;
  if (value.is_number_integer() && value >= 1 && value <= static_cast<int>(kInputModes.size()))
    return static_cast<InputMode>(value.get<int>());
  if (value.is_string()) {
    const auto text = value.get<std::string>();
    const std::string name = text.substr(text.rfind('.') + 1);  // also tf.estimator.tpu.InputPipelineConfig.PER_HOST_V2
    for (std::size_t i = 0; i < kInputModes.size(); ++i)
      if (name == kInputModes[i]) return static_cast<InputMode>(i + 1);
    if (text == "True" || text == "true") return InputMode::kPerHostV1;
    if (text == "False" || text == "false") return InputMode::kPerShardV1;
    if (text.size() == 1 && text[0] >= '1' && text[0] <= '5') return static_cast<InputMode>(text[0] - '0');
  }
  throw config_error(
      "per_host_input_for_training is " + shown(value) +
      "; expected PER_SHARD_V1, PER_HOST_V1, PER_HOST_V2, BROADCAST, SLICED, their numbers 1 to 5, true or "
      "false (it is not the batch size); a sample that is cut needs PER_HOST_V2");
}

json json_of(const DimsByPath& tensors) {
  json structure = json::object();
  for (const auto& [path, dims] : tensors) {
    json* place = &structure;
    for (std::size_t begin = 0; !path.empty() && begin <= path.size();) {
      const std::size_t end = std::min(path.find('/', begin), path.size());
      place = &(*place)[path.substr(begin, end - begin)];
      begin = end + 1;
    }
    *place = dims ? json(*dims) : json(nullptr);
  }
  return structure;
}

/// Returns the product of a reference model's flat list; 1 when an entry is invalid, which resolve() refuses.
std::int64_t product_of_list(const InputPartitionDims& dims) {
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  std::int64_t product = 1;
  for (auto parts : *dims.elements.front()->at("")) {
    if (parts < 1) return 1;
    product = parts > kMost / product ? kMost : product * parts;
  }
  return product;
}

}  // namespace

const char* input_mode_name(InputMode mode) { return kInputModes.at(static_cast<std::size_t>(mode) - 1); }

InputMode TpuConfig::input_mode() const {
  return per_host_input_for_training.value_or(input_partition_dims || cores_per_replica() > 1 ? InputMode::kPerHostV2
                                                                                              : InputMode::kPerHostV1);
}

std::optional<InputPartitionDims> input_partition_dims_from_json(const json& value) {
  if (is_none(value)) return std::nullopt;
  if (value.is_string()) return dims_from_text(value.get<std::string>());
  if (!value.is_array())
    throw config_error("input_partition_dims is " + shown(value) +
                       "; expected a list [features, labels], such as [[1, 4, 1, 1], None]");
  return dims_of_list(value);
}

bool is_input_partition_dims(const json& value) {
  try {
    const auto dims = value.is_array() ? input_partition_dims_from_json(value) : std::nullopt;
    return dims && !dims->elements.empty() && dims->elements.size() <= 2;
  } catch (const Error&) {
    return false;
  }
}

const std::vector<std::string>& tpu_config_keys() {
  static const std::vector<std::string> kKeys = {"num_cores_per_replica",
                                                 "input_partition_dims",
                                                 "iterations_per_loop",
                                                 "per_host_input_for_training",
                                                 "num_shards",
                                                 "train_batch_size",
                                                 "eval_batch_size",
                                                 "predict_batch_size"};
  return kKeys;
}

TpuConfig tpu_config_from_json(const json& config) {
  if (!config.is_object()) throw config_error("is " + shown(config) + "; expected keys and values");
  TpuConfig c;
  for (const auto& [key, value] : config.items()) {
    if (key == "iterations_per_loop") {
      if (!is_none(value))
        c.iterations_per_loop =
            iterations_per_loop_from_text(value.is_string() ? value.get<std::string>() : shown(value));
    } else if (key == "num_shards") {
      c.num_shards = whole_number(key, value, "the replicas, cores / num_cores_per_replica");
    } else if (key == "num_cores_per_replica") {
      c.num_cores_per_replica = whole_number(key, value, "the cores that share a sample");
    } else if (key == "input_partition_dims") {
      c.input_partition_dims = input_partition_dims_from_json(value);
    } else if (key == "per_host_input_for_training") {
      if (!is_none(value)) c.per_host_input_for_training = input_mode_from_json(value);
    } else if (key == "train_batch_size") {
      c.train_batch_size = batch_size(key, value);
    } else if (key == "eval_batch_size") {
      c.eval_batch_size = batch_size(key, value);
    } else if (key == "predict_batch_size") {
      c.predict_batch_size = batch_size(key, value);
    } else {
      throw config_error("the key \"" + key + "\" is not known; did you mean " + nearest_name(key, tpu_config_keys()) +
                         "?");
    }
  }
  if (c.input_partition_dims && c.input_partition_dims->one_list && !c.num_cores_per_replica)
    c.num_cores_per_replica = product_of_list(*c.input_partition_dims);
  return c;
}

nlohmann::ordered_json to_json(const TpuConfig& c) {
  nlohmann::ordered_json out = {{"iterations_per_loop", to_text(c.iterations_per_loop)}};
  const auto put = [&](const char* key, const std::optional<std::int64_t>& value) {
    if (value) out[key] = *value;
  };
  put("num_shards", c.num_shards);
  put("num_cores_per_replica", c.num_cores_per_replica);
  if (c.input_partition_dims) {
    json elements = json::array();
    for (const auto& element : c.input_partition_dims->elements)
      elements.push_back(element ? json_of(*element) : json(nullptr));
    out["input_partition_dims"] = c.input_partition_dims->one_list ? elements.front() : elements;
  }
  if (c.per_host_input_for_training)
    out["per_host_input_for_training"] = input_mode_name(*c.per_host_input_for_training);
  put("train_batch_size", c.train_batch_size);
  put("eval_batch_size", c.eval_batch_size);
  put("predict_batch_size", c.predict_batch_size);
  return out;
}

}  // namespace voxshard
