// A small U-Net, a device on which more cores pay off, and a plan problem of both, for the tests of the planner.
//
//   PlanProblem problem = scene_problem({2, 16, 16, 16}, 4);      // at most 4 cores, no budget
//   auto all = priced(problem, quick_device());
#pragma once

#include <sstream>

#include "libcore/models/unet.h"
#include "libcore/ops/op_table.h"
#include "libcore/planner/planner.h"
#include "tests/device/tpu/tpu_scene.h"

namespace voxshard::test {

/// Returns the toy with so little latency that even small tensors are worth cutting.
inline TpuDevice quick_device() {
  Json json = toy_json();
  json["core"]["dispatch"]["value"] = 0.001;
  json["chip"]["hop_latency"]["value"] = 0.001;
  json["chip"]["link_rate"]["value"] = 1000;
  return TpuDevice(tpu_from_json(json, "quick.json", "quick"));
}

inline Graph scene_unet(const Shape& extents, const UNetConfig& config, DType dtype = DType::kF32) {
  GraphOptions options{.batch = extents[0], .dtype = dtype};
  for (int a = 1; a < extents.axes(); ++a) options.size.push_back(extents[a]);
  return build_unet(config, options, op_table());
}

inline PlanProblem scene_problem(const Shape& extents, std::int64_t cores,
                                 const UNetConfig& config = {.base_filters = 8, .depth = 2}) {
  return {.graph = scene_unet(extents, config), .cores = cores};
}

inline std::vector<Candidate> priced(const PlanProblem& problem, const Device& device, int workers = 2) {
  WorkerPool pool(workers);
  return price_candidates(problem, op_table(), device, pool);
}

/// Returns every candidate with its bytes: nothing fits a budget of one byte, so all are priced.
inline std::vector<Candidate> priced_all(PlanProblem problem, const Device& device) {
  problem.core_bytes = 1;
  problem.all_cores_bytes = 0;
  return priced(problem, device);
}

/// Returns everything that was computed for a candidate as text: equal texts are equal candidates.
inline std::string text_of(const Candidate& c) {
  std::ostringstream out;
  out.precision(17);
  out << c.cut.mesh.replicas << " x " << to_string(c.cut.mesh.partition) << " " << recompute_name(c.cut.recompute)
      << " slabs of " << c.cut.thinnest_slab << " verdict " << static_cast<int>(c.verdict) << " bytes " << c.core_bytes
      << " " << c.all_bytes << " over " << c.over_bytes << " seconds " << c.step_s << " " << c.device_s << " "
      << c.feed_s << " moved " << c.halo_bytes << " " << c.all_reduce_bytes << " " << c.messages << " " << c.hops
      << " thinnest " << c.thinnest_planes << " " << c.thinnest_layer << " idle " << c.idle_cores << " largest";
  for (const Allocation& a : c.largest) out << " " << a.layer << " " << a.bytes;
  return out.str();
}

}  // namespace voxshard::test
