// Messages between the ranks of a run as JSON: rank 0 broadcasts the model as it planned it, and gathers a report of
// each rank. All ranks call these functions at the same point.
//
//   options.spec = broadcast_spec(transport, [&] { return planned_spec(...); });       // called on rank 0 only
//   json["ranks"] = gather_reports(transport, {{"memory", to_json(report.memory)}});  // on rank 0
//
// Packed by pack_json(), unpacked by unpack_cbor() of io/files/structured_text.h: numbers to the last bit, names in
// their order.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "libcore/ranks/transport.h"
#include "pipelines/model_runs/model_spec.h"

namespace voxshard {

std::string pack_json(const nlohmann::ordered_json& json);

/// Convert a shape to a list such as [1, 48, 40, 56], and back.
nlohmann::json shape_json(const Shape& shape);
Shape shape_from_json(const nlohmann::json& json);

/// Broadcasts the value of `own`, which is called on rank 0 only, to all ranks. Errors: kInternal for a damaged
/// message.
nlohmann::ordered_json broadcast_json(Transport& transport, const std::function<nlohmann::ordered_json()>& own);

/// Broadcasts the model as rank 0 partitions it, because a plan depends on the memory that is free there. `choose` is
/// called on rank 0 only.
ModelSpec broadcast_spec(Transport& transport, const std::function<ModelSpec()>& choose);

/// Gathers the reports of all ranks on rank 0: [{"rank": 1, "name": "rank 1 on node-b", "memory": {...}}, ...]. Returns
/// null on the other ranks, and when there is one rank only. `own`: an object. Errors: kInternal for a damaged message.
nlohmann::ordered_json gather_reports(Transport& transport, const nlohmann::ordered_json& own);

/// Formats reports with a "memory" (ProcessReport) as text: a line per rank with planned and peak memory; empty for
/// null.
std::string memory_text_of_ranks(const nlohmann::ordered_json& reports);

/// Throws kConfig when there are fewer cores than ranks, with advice.
void require_core_per_rank(const Transport& transport, const Mesh& mesh);

}  // namespace voxshard
