// What ranks of a run say to each other as JSON: a model as rank 0 plans it, a report of each for the whole run. All
// ranks ask at the same place.
//
//   options.spec = broadcast_spec(transport, [&] { return planned_spec(...); });       // asked on rank 0 only
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

/// [1, 48, 40, 56], and back.
nlohmann::json shape_json(const Shape& shape);
Shape shape_from_json(const nlohmann::json& json);

/// What `own` says on rank 0, which alone is asked, on all ranks. Errors: kInternal for a damaged message.
nlohmann::ordered_json broadcast_json(Transport& transport, const std::function<nlohmann::ordered_json()>& own);

/// The model as rank 0 cuts it: a plan depends on the memory that is free there. `choose` is asked on rank 0 only.
ModelSpec broadcast_spec(Transport& transport, const std::function<ModelSpec()>& choose);

/// On rank 0 of several what each of them reports, [{"rank": 1, "name": "rank 1 on node-b", "memory": {...}}, ...];
/// else null. `own`: an object. Errors: kInternal for a damaged message.
nlohmann::ordered_json gather_reports(Transport& transport, const nlohmann::ordered_json& own);

/// For people, of reports with a "memory" (ProcessReport): a line per rank with what was planned and what it took;
/// empty for null.
std::string memory_text_of_ranks(const nlohmann::ordered_json& reports);

/// Errors: kConfig for fewer cores than ranks, with what to give.
void require_core_per_rank(const Transport& transport, const Mesh& mesh);

}  // namespace voxshard
