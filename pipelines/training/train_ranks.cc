#include "pipelines/training/train_ranks.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "io/files/content_hash.h"
#include "io/files/structured_text.h"
#include "libcore/base/text.h"
#include "libcore/ranks/alike.h"
#include "libcore/ranks/texts.h"
#include "pipelines/model_runs/rank_json.h"
#include "pipelines/model_runs/run_record.h"

namespace voxshard {
void require_share_of_cores(const Transport& transport, const TrainOptions& o) {
  const Mesh& mesh = o.spec.cut.mesh;
  const Ranks place = transport.place();
  require_core_per_rank(transport, mesh);
  for (int rank = 1; o.feed == FeedMode::kPerHost && rank < place.ranks; ++rank)
    if (place.first_of(rank, mesh.cores()) % mesh.cores_per_replica() != 0)
      throw Error(ErrorKind::kConfig,
                  "[ranks] {feed} per-host reads whole samples on the host of a replica's core 0, but the " +
                      counted(mesh.cores_per_replica(), "core") + " of a replica would lie on several of the " +
                      counted(place.ranks, "rank") + "; use {feed} boxes, or ranks that divide the " +
                      counted(mesh.replicas, "replica"));
}

void require_same_data(Transport& transport, const CheckpointState& state, const std::vector<Shape>& validates) {
  if (transport.ranks() == 1) return;
  require_alike(transport, {{"how the data were prepared (a hash)", content_hash(state.prepare.dump())},
                            {"what is trained on (a hash)", content_hash(state.training.dump())},
                            {"the number of cases that validate", std::to_string(validates.size())},
                            {"the sizes of the cases that validate (a hash)",
                             content_hash(joined(validates, " ", [](const Shape& s) { return to_string(s); }))},
                            {"the model", state.model.dump()}});
}

std::vector<Choice> broadcast_choices(Transport& transport, const std::function<std::vector<Choice>()>& choose) {
  if (transport.ranks() == 1) return choose();
  return choices_from_json(broadcast_json(transport, [&] { return to_json(choose()); }));
}

std::optional<std::vector<Choice>> broadcast_known_choices(
    Transport& transport, const std::function<std::optional<std::vector<Choice>>()>& look) {
  if (transport.ranks() == 1) return look();
  std::string own;
  if (transport.rank() == 0)
    if (const auto known = look()) own = pack_json(to_json(*known));
  const std::string text = broadcast_text(transport, std::move(own));
  if (text.empty()) return std::nullopt;
  return choices_from_json(unpack_cbor(text));
}

void broadcast_cut(Transport& transport, ModelSpec& spec) {
  spec.cut = broadcast_spec(transport, [&] { return spec; }).cut;
}

void throw_if_any_stopped(Transport& transport, Progress& progress) {
  const std::int64_t none = transport.ranks();
  const std::int64_t first = transport.all_reduce_min(progress.stop_requested() ? transport.rank() : none);
  if (first == none) return;
  if (transport.ranks() > 1) progress.log(transport.name(static_cast<int>(first)) + " was asked to stop");
  throw Stopped();
}

std::optional<std::string> ranks_change(const std::filesystem::path& run, int ranks) {
  const auto record = read_run_record(run);
  if (!record) return std::nullopt;
  const nlohmann::json known = record->value(kRanks, nlohmann::json(1));
  if (!known.is_number_integer() || known == ranks) return std::nullopt;
  return "the run goes on over " + counted(ranks, "rank") + " (before: " + std::to_string(known.get<std::int64_t>()) +
         "), to the same bits";
}

}  // namespace voxshard
