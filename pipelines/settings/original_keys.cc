#include "pipelines/settings/original_keys.h"

#include <algorithm>
#include <array>

#include "libcore/base/error.h"
#include "libcore/base/spelling.h"
#include "libcore/base/text.h"
#include "pipelines/settings/key_values.h"
#include "pipelines/settings/retinanet_keys.h"
#include "pipelines/tpu/tpu_config.h"
#include "pipelines/tpu/tpu_config_text.h"

namespace voxshard {
namespace {

using nlohmann::json;

using Kind = OriginalKey::Kind;

constexpr const char* kNoRecords =
    "data is the folder that train is given; voxshard convert makes one of TFRecord files";
constexpr const char* kNoWorker = "validation runs inside train, see {validate-every}";
constexpr const char* kNoCloud = "cores are emulated on this machine";
constexpr const char* kNeverUsed = "the reference model never uses it";
constexpr const char* kUNetEpochs =
    "an epoch is train_item_count // train_batch_size steps, and the rate decays once per epoch";
constexpr const char* kRateDecays = "of the exponential schedule";

constexpr std::array kOriginalKeys = {
    OriginalKey{"num_channels", Kind::kRenamed, "channels of the image", "channels"},
    OriginalKey{"num_classes", Kind::kRenamed, "classes", "classes"},
    OriginalKey{"num_base_filters", Kind::kRenamed, "filters of the first convolution", "base-filters"},
    OriginalKey{"deconvolution", Kind::kFlag, "how features grow; false: nearest neighbours", "up", "deconvolution",
                "nearest"},
    OriginalKey{"use_bfloat16", Kind::kFlag, "what is multiplied", "precision", "bf16", "f32"},
    OriginalKey{"init_learning_rate", Kind::kRenamed, "rate before the schedule", "learning-rate"},
    OriginalKey{"lr_decay_steps", Kind::kRenamed, kRateDecays, "lr-decay-steps"},
    OriginalKey{"lr_decay_rate", Kind::kRenamed, kRateDecays, "lr-decay-rate"},
    OriginalKey{"train_steps", Kind::kRenamed, "steps in all", "steps"},
    OriginalKey{"train_input_partition_dims", Kind::kRenamed, "how samples are cut", "input_partition_dims"},
    OriginalKey{"dropout_rate", Kind::kIdle, kNeverUsed},
    OriginalKey{"num_segmentation_levels", Kind::kIdle, kNeverUsed},
    OriginalKey{"use_index_label_in_train", Kind::kIdle, "labels are class indices always"},
    OriginalKey{"label_dtype", Kind::kIdle, kNoRecords},
    OriginalKey{"compressed_input", Kind::kIdle, kNoRecords},
    OriginalKey{"training_file_pattern", Kind::kIdle, kNoRecords},
    OriginalKey{"eval_file_pattern", Kind::kIdle, kNoRecords},
    OriginalKey{"model_dir", Kind::kIdle, "the run folder is {output}"},
    OriginalKey{"eval_item_count", Kind::kIdle, kNoWorker},
    OriginalKey{"num_steps_per_eval", Kind::kIdle, kNoWorker},
    OriginalKey{"min_eval_interval", Kind::kIdle, kNoWorker},
    OriginalKey{"eval_timeout", Kind::kIdle, kNoWorker},
    OriginalKey{"eval_input_partition_dims", Kind::kIdle, "volumes are evaluated with the partition of the training"},
    OriginalKey{"tpu", Kind::kIdle, kNoCloud},
    OriginalKey{"use_tpu", Kind::kIdle, kNoCloud},
    OriginalKey{"gcp_project", Kind::kIdle, kNoCloud},
    OriginalKey{"tpu_zone", Kind::kIdle, kNoCloud},
    OriginalKey{"eval_master", Kind::kIdle, kNoCloud},
    OriginalKey{"num_cores", Kind::kRule, "the cores; where nothing is cut, each of them is a replica"},
    OriginalKey{"input_image_size", Kind::kRule, "the extents of a sample"},
    OriginalKey{"use_batch_norm", Kind::kRule, "the norm behind each convolution"},
    OriginalKey{"instance_normalization", Kind::kRule, "wins over use_batch_norm"},
    OriginalKey{"optimizer", Kind::kRule, "momentum is sgd with it; sgd of the original is without"},
    OriginalKey{"data_format", Kind::kRule, "axes are N D H W C"},
    OriginalKey{"train_epochs", Kind::kRule, kUNetEpochs},
    OriginalKey{"train_item_count", Kind::kRule, kUNetEpochs},
    OriginalKey{"dtype", Kind::kRule, "what is multiplied"}};

/// Returns true for a key that only the original's configs have. Keys that are options here too, and the fields of
/// TPUConfig, do not count.
bool is_of_reference(const std::string& key) {
  constexpr std::array kOursToo = {"optimizer"};
  return std::ranges::count(kOursToo, key) == 0 && std::ranges::count(original_keys(), key, &OriginalKey::key) > 0;
}

/// Training keys that only the U-Net's configs have: where one is missing, the default of unet_config.py applies.
constexpr std::array kTrainsUNet = {"train_item_count", "train_epochs", "init_learning_rate", "lr_decay_rate"};

class Translation {
 public:
  explicit Translation(const json& config) : in_(config), out_{.values = config, .notes = {}}, keys_(out_.values) {}

  OptionValues run() {
    out_.of_reference = in_.contains("tpu_config") ||
                        std::ranges::any_of(in_.items(), [](const auto& item) { return is_of_reference(item.key()); });
    take_section();
    take_retinanet_keys(keys_, out_.notes);
    const bool trains_unet = std::ranges::any_of(kTrainsUNet, [&](const char* key) { return keys_.has(key); });
    keys_.take(kOriginalKeys, out_.notes);
    take_cores();
    take_model();
    take_steps(trains_unet);
    if (has("lr-decay-steps") || has("lr-decay-rate"))
      put("schedule", "exponential", {"lr_decay_steps", "lr_decay_rate", "train_item_count", "train_epochs"});
    write_dims_as_text(out_.values);
    for (auto& section : out_.values)
      if (section.is_object()) write_dims_as_text(section);
    out_.followed = keys_.followed(), out_.dropped = keys_.dropped();
    return std::move(out_);
  }

 private:
  /// Merges the section tpu_config into the top level, whose keys it overrides.
  void take_section() {
    if (!in_.contains("tpu_config")) return;
    const json section = in_["tpu_config"];
    out_.values.erase("tpu_config");
    if (section.is_null()) return;
    if (!section.is_object()) throw KeyValues::error("tpu_config", section, "a section with keys and values");
    std::vector<std::string> known = tpu_config_keys();
    for (const std::string& key : reference_model_keys()) known.push_back(key);
    for (const auto& [key, value] : section.items()) {
      if (std::find(known.begin(), known.end(), key) == known.end())
        throw Error(ErrorKind::kConfig, "[config] the key \"" + key + "\" of tpu_config is not known; did you mean " +
                                            nearest_name(key, known) + "?");
      out_.values[key] = value;
    }
    for (const auto& key : tpu_config_keys())
      if (out_.values.contains(key) && KeyValues::is_unset(out_.values[key])) out_.values.erase(key);
  }

  std::optional<json> take(const std::string& key) { return keys_.take(key); }
  bool has(const std::string& option) const { return keys_.has(option); }
  void put(const std::string& option, const json& value, std::initializer_list<const char*> keys) {
    keys_.put(option, value, keys);
  }

  /// tpu_executor.py: where nothing is cut, each core is a replica.
  void take_cores() {
    const auto cores = take("num_cores");
    if (!cores) return;
    put("cores", *cores, {"num_cores"});
    const auto& v = out_.values;
    const bool cut = std::any_of(v.items().begin(), v.items().end(), [](const auto& item) {
      return !KeyValues::is_unset(item.value()) &&
             (item.key() == "partition" || item.key() == "replicas" || item.key() == "num_shards" ||
              item.key() == "num_cores_per_replica" || item.key() == "input_partition_dims");
    });
    if (!cut) put("num_shards", *cores, {"num_cores"});
  }

  void take_model() {
    if (const auto size = take("input_image_size")) {
      const auto good = [](const json& extent) { return extent.is_number_integer() && extent > 0; };
      if (!size->is_array() || size->empty() || !std::all_of(size->begin(), size->end(), good))
        throw KeyValues::error("input_image_size", *size, "a list of extents like [128, 128, 128]");
      const std::string text = joined(*size, "x", [](const json& extent) { return extent.dump(); });
      put("size", text, {"input_image_size"});
      put("crop", text, {"input_image_size"});
    }
    const auto batch = keys_.take_flag("use_batch_norm"), instance = keys_.take_flag("instance_normalization");
    if (instance && *instance) put("norm", "instance", {"instance_normalization"});
    if (batch) put("norm", *batch ? "batch" : "none", {"use_batch_norm"});
    if (const auto type = take("dtype")) {
      if (*type != "bfloat16" && *type != "float32") throw KeyValues::error("dtype", *type, "bfloat16 or float32");
      put("precision", *type == "bfloat16" ? "bf16" : "f32", {"dtype"});
    }
    if (const auto format = take("data_format"); format && *format != "channels_last")
      throw KeyValues::error("data_format", *format, "channels_last: axes are N D H W C");
    if (!out_.values.contains("optimizer")) return;
    if (out_.values["optimizer"] == "sgd" && out_.of_reference)
      put("momentum", 0, {"optimizer"});  // tf.train.GradientDescentOptimizer
    if (out_.values["optimizer"] == "momentum") out_.values["optimizer"] = "sgd";
  }

  /// unet_main.py: an epoch is train_item_count // train_batch_size steps, and the rate decays once per epoch. Keys
  /// that a training config leaves out have the defaults of unet_config.py: 1000 samples, 10 epochs, batches of 8; the
  /// default decay, halving the rate, is also that of `train`.
  void take_steps(bool trains_unet) {
    const auto given_items = take("train_item_count"), given_epochs = take("train_epochs");
    if (!trains_unet || has("steps")) return;
    if (!given_items && !given_epochs && has("lr-decay-steps")) return;
    const json items = given_items.value_or(1000), epochs = given_epochs.value_or(10);
    const char* named = has("train_batch_size") || !has("batch") ? "train_batch_size" : "batch";
    put(named, 8, {});
    const json batch = out_.values[named];
    for (const auto& [key, value] : {std::pair{"train_item_count", items}, {"train_epochs", epochs}, {named, batch}})
      if (!value.is_number_integer() || value < 1 || value > 1'000'000'000)
        throw KeyValues::error(key, value, "a positive whole number");
    const std::int64_t epoch = items.get<std::int64_t>() / batch.get<std::int64_t>();
    if (epoch < 1) throw KeyValues::error("train_item_count", items, "at least one batch of " + shown(batch));
    put("steps", epochs.get<std::int64_t>() * epoch, {"train_item_count", "train_epochs", named});
    put("lr-decay-steps", epoch, {"train_item_count", named});
  }

  static void write_dims_as_text(json& section) {
    const auto dims = section.find("input_partition_dims");
    if (dims == section.end()) return;
    if (KeyValues::is_unset(*dims))
      section.erase(dims);
    else if (dims->is_structured())
      *dims = to_text(*dims, TextStyle::kPython);
  }

  const json& in_;
  OptionValues out_;
  KeyValues keys_;  // refers to out_.values
};

}  // namespace

const std::vector<OriginalKey>& original_keys() {
  static const std::vector<OriginalKey> kKeys = [] {
    std::vector<OriginalKey> keys(kOriginalKeys.begin(), kOriginalKeys.end());
    for (const OriginalKey& row : retinanet_keys()) keys.push_back(row);
    return keys;
  }();
  return kKeys;
}

std::vector<std::string> reference_model_keys() {
  std::vector<std::string> names;
  for (const OriginalKey& row : original_keys()) names.emplace_back(row.key);
  return names;
}

OptionValues with_option_names(const json& config) {
  if (!config.is_object()) return {.values = config, .notes = {}};
  return Translation(config).run();
}

}  // namespace voxshard
