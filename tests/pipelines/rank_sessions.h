// Sessions of several ranks, each in a thread, that predict with one small model.
//
//   over_ranks(3, spec, [&](Session& session) { ... });        // calls coordinate() as its rank
#pragma once

#include "libcore/ops/op_table.h"
#include "libcore/train/initialise.h"
#include "pipelines/engine/core_runs.h"
#include "tests/ranks/mailbox.h"

namespace voxshard::test {

inline ModelSpec small_unet(Dims partition) {
  ModelSpec spec;
  spec.as<UNetConfig>() = {.base_filters = 4, .depth = 3};
  spec.precision = DType::kF32, spec.cut.mesh.partition = partition;
  return spec;
}

/// Calls `body` on each rank with its session; all ranks have the same parameters.
inline void over_ranks(Mailbox& mailbox, const ModelSpec& spec, const std::function<void(Session&)>& body) {
  run_valid_ranks(mailbox, [&](Transport& transport) {
    WorkerPool pool(2);
    Session session(op_table(), lowering_of(spec, {}, {.workers = 2, .ranks = transport.place()}), pool, &transport);
    session.parameters() = initialise(build_graph(spec, {1, 16, 16, 16}, Phase::kTrain, spec.precision), 5);
    body(session);
  });
}
inline void over_ranks(int ranks, const ModelSpec& spec, const std::function<void(Session&)>& body) {
  Mailbox mailbox(ranks);
  over_ranks(mailbox, spec, body);
}

/// Fills a box with numbers that encode the global coordinates of each voxel.
inline void fill_with_places(const TensorView& box) {
  for (std::int64_t d = box.box.begin[1]; d < box.box.end(1); ++d)
    for (std::int64_t h = box.box.begin[2]; h < box.box.end(2); ++h)
      for (std::int64_t w = box.box.begin[3]; w < box.box.end(3); ++w) {
        const Box at{{0, d, h, w, 0}, {1, 1, 1, 1, 1}};
        fill(box.sub(at), static_cast<double>((d * 100 + h) * 100 + w));
      }
}

}  // namespace voxshard::test
