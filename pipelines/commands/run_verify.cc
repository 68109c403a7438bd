#include "pipelines/commands/run_verify.h"

#include <nlohmann/json.hpp>

namespace voxshard {

EquivalenceReport run_verify(const VerifyOptions& options) {
  WorkerPool pool(options.threads);
  const ModelSpec& spec = options.spec;
  return check_equivalence({.factory = [&](DType dtype) { return build_graph(spec, options.extents, Phase::kTrain, dtype); },
                            .dtype = spec.precision,
                            .cut = spec.cut,
                            .seed = options.seed,
                            .transport = options.transport},
                           pool);
}

nlohmann::ordered_json to_json(const EquivalenceReport& report) {
  nlohmann::ordered_json first = nullptr;
  if (report.first_difference)
    first = {{"layer", report.first_difference->layer},
             {"what", report.first_difference->what},
             {"difference", report.first_difference->difference},
             {"allowed", report.first_difference->tolerance}};
  return {{"equal", report.equal()},
          {"first_difference", first},
          {"layers",
           {{"compared", report.layers},
            {"bit_equal", report.bit_equal},
            {"within_tolerance", report.within_tolerance},
            {"widest_ratio", report.widest_ratio}}},
          {"end_to_end",
           {{"tensors", report.tensors},
            {"loss_uncut", report.loss_uncut},
            {"loss_partitioned", report.loss_cut},
            {"loss_higher_precision", report.loss_higher},
            {"widest_ratio", report.end_to_end_ratio}}},
          {"tolerance",
           {{"layers", "0 where no sum is cut; else 8 x epsilon x length of the sum x size of an addend (f64 sums: length^1.5)"},
            {"end_to_end", "4 x the uncut run's own difference to higher precision + rounding of the layer's weight gradient"}}}};
}

}  // namespace voxshard
