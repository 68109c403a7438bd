#include "pipelines/settings/retinanet_keys.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "libcore/base/text.h"
#include "pipelines/settings/key_values.h"

namespace voxshard {
namespace {

using nlohmann::json;

using Kind = OriginalKey::Kind;

constexpr const char* kLevels = "the pyramid has levels 3 to 7; use another size of image";
constexpr const char* kAnchors = "anchors are those of the two reference models, which {variant} chooses between";
constexpr const char* kLoss =
    "the loss is the reference's: focal with alpha 0.25 and gamma 1.5, Huber with delta 0.1 times 50";
constexpr const char* kHeldOut = "the pictures that validate are given with {val}";
constexpr const char* kEvaluates = "evaluation is a command of its own: voxshard evaluate";
constexpr const char* kServing = "voxshard serves no models";
constexpr const char* kMachine = "cores are emulated on this machine";
constexpr const char* kWorkers = "{threads} counts the workers";
constexpr const char* kProfile = "{trace} writes a profile";
constexpr const char* kInFile = "write its values as keys of this file";
constexpr const char* kEpochs = "an epoch is num_examples_per_epoch / batch steps";
constexpr const char* kDrops = "the rate is multiplied by 0.1 at two epochs, 8 and 11 unless given";
constexpr const char* kScale = "a random factor of both sides, 1 to 1 unless given";

/// Keys that imply that the model is RetinaNet.
constexpr std::array kOfModel = {
    OriginalKey{"min_level", Kind::kFixed, kLevels, "3"},
    OriginalKey{"max_level", Kind::kFixed, kLevels, "7"},
    OriginalKey{"num_scales", Kind::kFixed, kAnchors, "3"},
    OriginalKey{"aspect_ratios", Kind::kFixed, kAnchors, "[[1, 1], [1.4, 0.7], [0.7, 1.4]]"},
    OriginalKey{"anchor_scale", Kind::kFixed, kAnchors, "4"},
    OriginalKey{"is_training_bn", Kind::kFixed, "norms always learn; set {norm-momentum}", "true"},
    OriginalKey{"skip_crowd_during_training", Kind::kFixed, "boxes of crowds never train; write them without iscrowd",
                "true"},
    OriginalKey{"alpha", Kind::kFixed, kLoss, "0.25"},
    OriginalKey{"gamma", Kind::kFixed, kLoss, "1.5"},
    OriginalKey{"delta", Kind::kFixed, kLoss, "0.1"},
    OriginalKey{"box_loss_weight", Kind::kFixed, kLoss, "50"},
    OriginalKey{"image_size", Kind::kRule,
                "pictures are scaled to it by one factor, with zeros at the bottom and right"},
    OriginalKey{"use_spatial_partition", Kind::kRule,
                "cuts as the flags' defaults do, over 8 cores as [1, 4, 2, 1]; false: not cut"},
    OriginalKey{"resnet_depth", Kind::kRule, "the backbone"},
    OriginalKey{"input_rand_hflip", Kind::kRule, "half of the pictures are mirrored"},
    OriginalKey{"train_scale_min", Kind::kRule, kScale},
    OriginalKey{"train_scale_max", Kind::kRule, kScale},
    OriginalKey{"lr_warmup_init", Kind::kRule, "the rate that the warm-up begins with"},
    OriginalKey{"lr_warmup_epoch", Kind::kRule, kEpochs},
    OriginalKey{"first_lr_drop_epoch", Kind::kRule, kDrops},
    OriginalKey{"second_lr_drop_epoch", Kind::kRule, kDrops},
    OriginalKey{"num_examples_per_epoch", Kind::kRule, kEpochs},
    OriginalKey{"num_epochs", Kind::kRule, kEpochs}};

constexpr const char* kMode = "mode";
constexpr std::array kOthersOfRetinaNet = {
    OriginalKey{"resnet_checkpoint", Kind::kEmpty,
                "weights of other programs are not read: leave it empty, and training begins from random ones"},
    OriginalKey{"hparams", Kind::kEmpty, kInFile},
    OriginalKey{"config_file", Kind::kEmpty, kInFile},
    OriginalKey{"distribution_strategy", Kind::kEmpty,
                "say the cores with num_cores, or start voxshard once per machine"},
    OriginalKey{"validation_file_pattern", Kind::kIdle, kHeldOut},
    OriginalKey{"val_json_file", Kind::kIdle, kHeldOut},
    OriginalKey{"train_data_dir", Kind::kIdle, "data is the folder or file that train is given"},
    OriginalKey{"valid_data_dir", Kind::kIdle, kHeldOut},
    OriginalKey{"eval_samples", Kind::kIdle, kEvaluates},
    OriginalKey{"eval_after_training", Kind::kIdle, "the last step of train validates always"},
    OriginalKey{"use_xla", Kind::kIdle, kMachine},
    OriginalKey{"master", Kind::kIdle, kMachine},
    OriginalKey{"tpu_name", Kind::kIdle, kMachine},
    OriginalKey{"evaluation_master", Kind::kIdle, kMachine},
    OriginalKey{"num_gpus", Kind::kIdle, kMachine},
    OriginalKey{"worker_hosts", Kind::kIdle, kMachine},
    OriginalKey{"task_index", Kind::kIdle, kMachine},
    OriginalKey{"all_reduce_alg", Kind::kIdle, "sums are joined in a fixed tree"},
    OriginalKey{"dataset_private_threadpool_size", Kind::kIdle, kWorkers},
    OriginalKey{"dataset_max_intra_op_parallelism", Kind::kIdle, kWorkers},
    OriginalKey{"auto_mixed_precision", Kind::kIdle, "{precision} says what is multiplied in bf16"},
    OriginalKey{"start_profiler_server", Kind::kIdle, kProfile},
    OriginalKey{"profiler_port_number", Kind::kIdle, kProfile},
    OriginalKey{"profile_skip_steps", Kind::kIdle, kProfile},
    OriginalKey{"transpose_input", Kind::kIdle, "axes are N H W C"},
    OriginalKey{"add_warmup_requests", Kind::kIdle, kServing},
    OriginalKey{"model_name", Kind::kIdle, kServing},
    OriginalKey{"inference_batch_size", Kind::kIdle, kServing},
    OriginalKey{kMode, Kind::kIdle, "what a file is for is said by the subcommand"}};

class RetinaNetKeys {
 public:
  RetinaNetKeys(KeyValues& keys, std::vector<std::string>& notes) : keys_(keys), notes_(notes) {}

  void run() {
    const bool is_model =
        std::ranges::any_of(kOfModel, [&](const OriginalKey& row) { return keys_.values().contains(row.key); });
    keys_.take(kOfModel, notes_);
    require_mode();
    keys_.take(kOthersOfRetinaNet, notes_);
    if (!is_model) return;
    keys_.put("model", "retinanet", {});
    keys_.put("variant", "legacy", {});
    take_image();
    take_partition();
    take_schedule();
  }

 private:
  void require_mode() const {
    const auto mode = keys_.values().find(kMode);
    if (mode == keys_.values().end() || KeyValues::is_unset(*mode)) return;
    if (*mode != "train" && *mode != "train_and_eval" && *mode != "eval")
      throw KeyValues::error(kMode, *mode, "train, train_and_eval or eval");
  }

  /// The pyramid halves an image seven times.
  void take_image() {
    if (const auto depth = keys_.take("resnet_depth")) {
      if (*depth != 18 && *depth != 34 && *depth != 50)
        throw KeyValues::error("resnet_depth", *depth, "18, 34 or 50: no other backbone is here");
      keys_.put("backbone", "resnet" + depth->dump(), {"resnet_depth"});
    }
    if (const auto size = keys_.take("image_size")) {
      const json sides = size->is_array() ? *size : json::array({*size, *size});
      const auto good = [](const json& side) {
        return side.is_number_integer() && side > 0 && side <= 65536 && side.get<int>() % 128 == 0;
      };
      if (sides.size() != 2 || !std::all_of(sides.begin(), sides.end(), good))
        throw KeyValues::error("image_size", *size, "a multiple of 128, which the pyramid halves seven times");
      const std::string text = sides[0].dump() + "x" + sides[1].dump();
      keys_.put("size", text, {"image_size"});
      keys_.put("output-size", text, {"image_size"});  // the long side scaled to it, zeros at the bottom and right
      keys_.put("foreground", 0, {"image_size"});      // and crops are not chosen by the positions of boxes
    }
    if (const auto mirrored = keys_.take_flag("input_rand_hflip"))
      keys_.put("mirror", *mirrored ? 0.5 : 0.0, {"input_rand_hflip"});
    const auto least = keys_.take_number("train_scale_min", 0x1p-10, 16),
               most = keys_.take_number("train_scale_max", 0x1p-10, 16);
    if (!least && !most) return;
    if (least.value_or(1) > most.value_or(1))
      throw KeyValues::error(least ? "train_scale_min" : "train_scale_max", least ? *least : *most,
                             least ? "at most train_scale_max, which is " + json(most.value_or(1)).dump()
                                   : "at least train_scale_min, which is 1");
    keys_.put("scale", json::array({least.value_or(1), most.value_or(1)}), {"train_scale_min", "train_scale_max"});
  }

  void take_partition() {
    const auto cut = keys_.take_flag("use_spatial_partition");
    if (!cut) return;
    if (*cut) {
      keys_.put("num_cores_per_replica", 8, {"use_spatial_partition"});  // the flags' defaults
      keys_.put("input_partition_dims", json::array({1, 4, 2, 1}), {"use_spatial_partition"});
      return;
    }
    keys_.drop("num_cores_per_replica", "use_spatial_partition");
    keys_.drop("input_partition_dims", "use_spatial_partition");
  }

  /// An epoch is num_examples_per_epoch / batch steps; the rate is that of a batch of 64, and grows with it.
  void take_schedule() {
    const char* named = keys_.has("train_batch_size") ? "train_batch_size" : "batch";
    const double batch = positive(named, keys_.has(named) ? keys_.values()[named] : json(64));
    if (!keys_.has(named)) keys_.put("train_batch_size", 64, {});
    const auto examples = keys_.take("num_examples_per_epoch"), epochs = keys_.take("num_epochs");
    const double epoch = positive("num_examples_per_epoch", examples.value_or(120000)) / batch;
    if ((examples || epochs) && !keys_.has("train_steps"))
      keys_.put("steps", steps(positive("num_epochs", epochs.value_or(15)), epoch),
                {"num_examples_per_epoch", "num_epochs", named});
    keys_.put("optimizer", "sgd", {});
    keys_.put("weight-decay", 1e-4, {});  // _WEIGHT_DECAY of retinanet_model.py
    if (const auto rate = keys_.take_number("learning_rate", 0, 1e6))
      keys_.put("learning-rate", *rate * batch / 64, {"learning_rate", named});
    const auto warmup = keys_.take_number("lr_warmup_epoch", 0, 1e6),
               from = keys_.take_number("lr_warmup_init", 0, 1e6);
    if (warmup) keys_.put("warmup-steps", steps(*warmup, epoch), {"lr_warmup_epoch", "num_examples_per_epoch", named});
    if (from) keys_.put("warmup-rate", *from, {"lr_warmup_init"});
    const auto first = keys_.take_number("first_lr_drop_epoch", 0, 1e6),
               second = keys_.take_number("second_lr_drop_epoch", 0, 1e6);
    if (!first && !second) return;
    keys_.put("schedule", "steps", {"first_lr_drop_epoch", "second_lr_drop_epoch"});
    keys_.put("lr-steps", json::array({steps(first.value_or(8), epoch), steps(second.value_or(11), epoch)}),
              {"first_lr_drop_epoch", "second_lr_drop_epoch", "num_examples_per_epoch", named});
    keys_.put("lr-step-factor", 0.1, {"first_lr_drop_epoch", "second_lr_drop_epoch"});
  }

  static double positive(const char* key, const json& value) {
    if (!value.is_number_integer() || value < 1 || value > 1'000'000'000)
      throw KeyValues::error(key, value, "a positive whole number");
    return value.get<double>();
  }
  static std::int64_t steps(double epochs, double epoch) {
    return static_cast<std::int64_t>(std::clamp(epochs * epoch, 0.0, 1e9));
  }

  KeyValues& keys_;
  std::vector<std::string>& notes_;
};

}  // namespace

std::vector<OriginalKey> retinanet_keys() {
  std::vector<OriginalKey> keys(kOfModel.begin(), kOfModel.end());
  keys.insert(keys.end(), kOthersOfRetinaNet.begin(), kOthersOfRetinaNet.end());
  return keys;
}

void take_retinanet_keys(KeyValues& keys, std::vector<std::string>& notes) { RetinaNetKeys(keys, notes).run(); }

}  // namespace voxshard
