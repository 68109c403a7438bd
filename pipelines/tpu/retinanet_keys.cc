#include "pipelines/tpu/retinanet_keys.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "libcore/base/text.h"
#include "pipelines/tpu/key_values.h"

namespace voxshard {
namespace {

using nlohmann::json;

/// A key whose value is always the reference's here.
struct Fixed {
  const char* key;
  const char* value;  // as in JSON
  const char* instead;
};
constexpr const char* kAnchors = "anchors are those of the two reference models, which {variant} chooses between";
constexpr const char* kLoss =
    "the loss is the reference's: focal with alpha 0.25 and gamma 1.5, Huber with delta 0.1 times 50";
constexpr std::array kFixed = {
    Fixed{"min_level", "3", "the pyramid has levels 3 to 7; use another size of image"},
    Fixed{"max_level", "7", "the pyramid has levels 3 to 7; use another size of image"},
    Fixed{"num_scales", "3", kAnchors},
    Fixed{"aspect_ratios", "[[1, 1], [1.4, 0.7], [0.7, 1.4]]", kAnchors},
    Fixed{"anchor_scale", "4", kAnchors},
    Fixed{"is_training_bn", "true", "norms always learn; set {norm-momentum}"},
    Fixed{"skip_crowd_during_training", "true", "boxes of crowds never train; write them without iscrowd"},
    Fixed{"alpha", "0.25", kLoss},
    Fixed{"gamma", "1.5", kLoss},
    Fixed{"delta", "0.1", kLoss},
    Fixed{"box_loss_weight", "50", kLoss}};

/// A key that may only stay empty.
struct Empty {
  const char* key;
  const char* instead;
};
constexpr std::array kEmpty = {
    Empty{"resnet_checkpoint",
          "weights of other programs are not read: leave it empty, and training begins from random ones"},
    Empty{"hparams", "write its values as keys of this file"},
    Empty{"config_file", "write its values as keys of this file"},
    Empty{"distribution_strategy", "say the cores with num_cores, or start voxshard once per machine"}};

constexpr const char* kEvaluates = "evaluation is a command of its own: voxshard evaluate";
constexpr const char* kServing = "voxshard serves no models";
constexpr const char* kMachine = "cores are emulated on this machine";
constexpr std::array kIdle = {IdleKey{"validation_file_pattern", "the pictures that validate are given with {val}"},
                              IdleKey{"val_json_file", "the pictures that validate are given with {val}"},
                              IdleKey{"train_data_dir", "data is the folder or file that train is given"},
                              IdleKey{"valid_data_dir", "the pictures that validate are given with {val}"},
                              IdleKey{"eval_samples", kEvaluates},
                              IdleKey{"eval_after_training", "the last step of train validates always"},
                              IdleKey{"use_xla", kMachine},
                              IdleKey{"master", kMachine},
                              IdleKey{"tpu_name", kMachine},
                              IdleKey{"evaluation_master", kMachine},
                              IdleKey{"num_gpus", kMachine},
                              IdleKey{"worker_hosts", kMachine},
                              IdleKey{"task_index", kMachine},
                              IdleKey{"all_reduce_alg", "sums are joined in a fixed tree"},
                              IdleKey{"dataset_private_threadpool_size", "{threads} counts the workers"},
                              IdleKey{"dataset_max_intra_op_parallelism", "{threads} counts the workers"},
                              IdleKey{"auto_mixed_precision", "{precision} says what is multiplied in bf16"},
                              IdleKey{"start_profiler_server", "{trace} writes a profile"},
                              IdleKey{"profiler_port_number", "{trace} writes a profile"},
                              IdleKey{"profile_skip_steps", "{trace} writes a profile"},
                              IdleKey{"transpose_input", "axes are N H W C"},
                              IdleKey{"add_warmup_requests", kServing},
                              IdleKey{"model_name", kServing},
                              IdleKey{"inference_batch_size", kServing}};

/// Keys with a rule of their own below. Those in front, and the fixed ones, say that the model is RetinaNet.
constexpr std::array kOfModel = {"image_size",           "use_spatial_partition",  "resnet_depth",
                                 "input_rand_hflip",     "train_scale_min",        "train_scale_max",
                                 "lr_warmup_init",       "lr_warmup_epoch",        "first_lr_drop_epoch",
                                 "second_lr_drop_epoch", "num_examples_per_epoch", "num_epochs"};
constexpr const char* kMode = "mode";

class RetinaNetKeys {
 public:
  RetinaNetKeys(json& values, std::vector<std::string>& notes) : keys_(values), notes_(notes) {}

  void run() {
    const auto there = [&](const char* key) { return keys_.values().contains(key); };
    const bool is_model = std::any_of(kOfModel.begin(), kOfModel.end(), there) ||
                          std::any_of(kFixed.begin(), kFixed.end(), [&](const Fixed& row) { return there(row.key); });
    for (const Fixed& row : kFixed)
      if (const auto value = keys_.take(row.key); value && *value != json_of(row))
        throw KeyValues::error(row.key, *value, std::string(row.value) + ": " + row.instead);
    for (const Empty& row : kEmpty)
      if (const auto value = keys_.take(row.key); value && *value != "")
        throw KeyValues::error(row.key, *value, std::string("nothing: ") + row.instead);
    keys_.take_idle(kIdle, notes_);
    take_mode();
    if (!is_model) return;
    keys_.put("model", "retinanet");
    keys_.put("variant", "legacy");
    take_picture();
    take_partition();
    take_schedule();
  }

 private:
  static json json_of(const Fixed& row) {
    const std::string text = row.value;
    if (text == "true") return true;
    if (text.starts_with("[")) return {{1, 1}, {1.4, 0.7}, {0.7, 1.4}};
    return std::stod(text);
  }

  void take_mode() {
    const auto mode = keys_.take(kMode);
    if (!mode) return;
    if (*mode != "train" && *mode != "train_and_eval" && *mode != "eval")
      throw KeyValues::error(kMode, *mode, "train, train_and_eval or eval");
    notes_.push_back("[config] mode has no effect: what a file is for is said by the subcommand");
  }

  /// The pyramid halves a picture seven times.
  void take_picture() {
    if (const auto depth = keys_.take("resnet_depth")) {
      if (*depth != 18 && *depth != 34 && *depth != 50)
        throw KeyValues::error("resnet_depth", *depth, "18, 34 or 50: no other backbone is here");
      keys_.put("backbone", "resnet" + depth->dump());
    }
    if (const auto size = keys_.take("image_size")) {
      const json sides = size->is_array() ? *size : json::array({*size, *size});
      const auto good = [](const json& side) {
        return side.is_number_integer() && side > 0 && side <= 65536 && side.get<int>() % 128 == 0;
      };
      if (sides.size() != 2 || !std::all_of(sides.begin(), sides.end(), good))
        throw KeyValues::error("image_size", *size, "a multiple of 128, which the pyramid halves seven times");
      const std::string text = sides[0].dump() + "x" + sides[1].dump();
      keys_.put("size", text);
      keys_.put("output-size", text);  // the long side scaled to it, zeros at the bottom and right
      keys_.put("foreground", 0);      // and nothing chosen by where the boxes are
    }
    if (const auto mirrored = keys_.take_flag("input_rand_hflip")) keys_.put("mirror", *mirrored ? 0.5 : 0.0);
    const auto least = keys_.take_number("train_scale_min", 0x1p-10, 16),
               most = keys_.take_number("train_scale_max", 0x1p-10, 16);
    if (!least && !most) return;
    if (least.value_or(1) > most.value_or(1))
      throw KeyValues::error(least ? "train_scale_min" : "train_scale_max", least ? *least : *most,
                             least ? "at most train_scale_max, which is " + json(most.value_or(1)).dump()
                                   : "at least train_scale_min, which is 1");
    keys_.put("scale", json::array({least.value_or(1), most.value_or(1)}));
  }

  void take_partition() {
    const auto cut = keys_.take_flag("use_spatial_partition");
    if (!cut) return;
    if (*cut) {
      keys_.put("num_cores_per_replica", 8);  // the flags' defaults
      keys_.put("input_partition_dims", json::array({1, 4, 2, 1}));
      return;
    }
    keys_.values().erase("num_cores_per_replica");
    keys_.values().erase("input_partition_dims");
  }

  /// An epoch is num_examples_per_epoch / batch steps; the rate is that of a batch of 64, and grows with it.
  void take_schedule() {
    const char* named = keys_.has("train_batch_size") ? "train_batch_size" : "batch";
    const double batch = positive(named, keys_.has(named) ? keys_.values()[named] : json(64));
    if (!keys_.has(named)) keys_.put("train_batch_size", 64);
    const auto examples = keys_.take("num_examples_per_epoch"), epochs = keys_.take("num_epochs");
    const double epoch = positive("num_examples_per_epoch", examples.value_or(120000)) / batch;
    if ((examples || epochs) && !keys_.has("train_steps"))
      keys_.put("steps", steps(positive("num_epochs", epochs.value_or(15)), epoch));
    keys_.put("optimizer", "sgd");
    keys_.put("weight-decay", 1e-4);  // _WEIGHT_DECAY of retinanet_model.py
    if (const auto rate = keys_.take_number("learning_rate", 0, 1e6)) keys_.put("learning-rate", *rate * batch / 64);
    const auto warmup = keys_.take_number("lr_warmup_epoch", 0, 1e6),
               from = keys_.take_number("lr_warmup_init", 0, 1e6);
    if (warmup) keys_.put("warmup-steps", steps(*warmup, epoch));
    if (from) keys_.put("warmup-rate", *from);
    const auto first = keys_.take_number("first_lr_drop_epoch", 0, 1e6),
               second = keys_.take_number("second_lr_drop_epoch", 0, 1e6);
    if (!first && !second) return;
    keys_.put("schedule", "steps");
    keys_.put("lr-steps", json::array({steps(first.value_or(8), epoch), steps(second.value_or(11), epoch)}));
    keys_.put("lr-step-factor", 0.1);
  }

  static double positive(const char* key, const json& value) {
    if (!value.is_number_integer() || value < 1 || value > 1'000'000'000)
      throw KeyValues::error(key, value, "a positive whole number");
    return value.get<double>();
  }
  static std::int64_t steps(double epochs, double epoch) {
    return static_cast<std::int64_t>(std::clamp(epochs * epoch, 0.0, 1e9));
  }

  KeyValues keys_;
  std::vector<std::string>& notes_;
};

}  // namespace

std::vector<std::string> retinanet_keys() {
  std::vector<std::string> keys(kOfModel.begin(), kOfModel.end());
  keys.push_back(kMode);
  for (const Fixed& row : kFixed) keys.push_back(row.key);
  for (const Empty& row : kEmpty) keys.push_back(row.key);
  for (const IdleKey& row : kIdle) keys.push_back(row.key);
  return keys;
}

void take_retinanet_keys(json& values, std::vector<std::string>& notes) { RetinaNetKeys(values, notes).run(); }

}  // namespace voxshard
