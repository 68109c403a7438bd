#include "pipelines/training/run_config.h"

#include <algorithm>
#include <array>

#include "libcore/base/text.h"

namespace voxshard {

nlohmann::ordered_json config_of_run(const TrainOptions& o) {
  GivenOptions given = o.given;
  // In their place stand the steps of the epochs, and the cut for the device.
  for (const char* replaced : {"", "epochs", "device", "prefer"}) given.erase(replaced);
  nlohmann::ordered_json train = {{"model", o.spec.model_name()},
                                  {"preset", "reference"},
                                  {"steps", o.steps},
                                  {"precision", dtype_name(o.spec.precision)}};
  const Cut& cut = o.spec.cut;
  const bool cut_by_tpu_config =
      !o.plan && std::ranges::any_of(std::array{"input_partition_dims", "num_cores_per_replica", "num_shards"},
                                     [&](const char* name) { return given.contains(name); });
  if (cut_by_tpu_config) {
    train["cores"] = cut.mesh.cores();
  } else {
    given.erase("cores");
    train["partition"] = to_string(cut.mesh.partition), train["replicas"] = cut.mesh.replicas;
    train["recompute"] = recompute_name(cut.recompute), train["thinnest-slab"] = cut.thinnest_slab;
  }
  for (const auto& [name, words] : given)
    if (const std::string text = joined(words, ","); !text.empty() && !train.contains(name)) train[name] = text;
  return {{"train", train}};
}

}  // namespace voxshard
