#include "pipelines/model_runs/rank_json.h"

#include "io/files/structured_text.h"
#include "libcore/base/text.h"
#include "libcore/ranks/texts.h"

namespace voxshard {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

std::string pack_json(const Json& json) {
  std::string packed;
  Json::to_cbor(json, packed);
  return packed;
}

nlohmann::json shape_json(const Shape& shape) {
  nlohmann::json list = nlohmann::json::array();
  for (const std::int64_t extent : shape) list.push_back(extent);
  return list;
}

Shape shape_from_json(const nlohmann::json& json) {
  Shape shape;
  for (const auto& extent : json) shape.push_back(extent.get<std::int64_t>());
  return shape;
}

Json broadcast_json(Transport& transport, const std::function<Json()>& own) {
  if (transport.ranks() == 1) return own();
  if (transport.rank() > 0) return unpack_cbor(broadcast_text(transport, ""));
  Json json = own();
  broadcast_text(transport, pack_json(json));
  return json;
}

ModelSpec broadcast_spec(Transport& transport, const std::function<ModelSpec()>& choose) {
  if (transport.ranks() == 1) return choose();
  ModelSpec spec;
  const Json said = broadcast_json(transport, [&] { return to_json(spec = choose()); });
  return transport.rank() > 0 ? model_spec_from_json(said) : spec;
}

Json gather_reports(Transport& transport, const Json& own) {
  if (transport.ranks() == 1) return {};
  Json reports;
  for (const std::string& text : gather_texts(transport, pack_json(own))) {
    const int rank = static_cast<int>(reports.size());
    Json report = {{"rank", rank}, {"name", transport.name(rank)}};
    report.update(unpack_cbor(text));
    reports.push_back(std::move(report));
  }
  return reports;
}

std::string memory_text_of_ranks(const Json& reports) {
  std::string text;
  for (const Json& report : reports) {
    const Json& memory = report.at("memory");
    text += report.at("name").get<std::string>() + ": " + bytes_text(memory.at("planned_bytes").get<std::int64_t>()) +
            " planned, " + bytes_text(memory.at("peak_resident_bytes").get<std::int64_t>()) + " resident at the peak\n";
    if (memory.contains("warning")) text += "  " + memory.at("warning").at("message").get<std::string>() + "\n";
  }
  return text;
}

void require_core_per_rank(const Transport& transport, const Mesh& mesh) {
  const int ranks = transport.ranks();
  const std::int64_t cores = mesh.cores();
  if (cores >= ranks) return;
  throw Error(ErrorKind::kConfig, "[ranks] " + counted(ranks, "rank") + " cannot share out " + counted(cores, "core") +
                                      "; start at most " + counted(cores, "rank") + ", or cut over at least " +
                                      std::to_string(ranks) + " cores: a finer {partition}, or {cores} " +
                                      std::to_string(ranks));
}

}  // namespace voxshard
