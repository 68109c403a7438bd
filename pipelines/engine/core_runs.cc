#include "pipelines/engine/core_runs.h"

#include <algorithm>
#include <exception>
#include <new>

#include "io/files/structured_text.h"
#include "libcore/base/text.h"
#include "libcore/ranks/texts.h"
#include "pipelines/model_runs/rank_json.h"

namespace voxshard {
namespace {

constexpr const char *kPlan = "plan", *kTurns = "turns", *kRun = "run", *kEnd = "end",
                     *kStop = "stop";  // the requests that rank 0 broadcasts

void broadcast_request(Session& session, const char* kind, Phase phase = Phase::kPredict,
                       const nlohmann::json& sizes = {}, const nlohmann::json& note = {}) {
  broadcast_text(session.transport(), pack_json(nlohmann::json{{"kind", kind},
                                                               {"model", session.number()},
                                                               {"phase", static_cast<int>(phase)},
                                                               {"sizes", sizes},
                                                               {"note", note}}));
}

Phase phase_of(const nlohmann::json& request) {
  const int phase = request.at("phase").get<int>();
  ensure(phase >= static_cast<int>(Phase::kTrain) && phase <= static_cast<int>(Phase::kEvaluate),
         "rank 0 names a phase that exists");
  return static_cast<Phase>(phase);
}

/// Returns the core set for a size once every rank has its own and none was asked to stop. Otherwise returns null on
/// all ranks and sets `why` to Stopped or to the memory error of a rank. A single process checks for a stop within the
/// run.
CoreSet* agreed_cores(Session& session, const Shape& extents, Phase phase, std::exception_ptr& why) {
  constexpr std::int64_t kStops = -1, kRefused = 0, kReady = 1;
  Transport& transport = session.transport();
  const bool stops = transport.ranks() > 1 && session.stop_requested();
  CoreSet* cores = nullptr;
  try {
    if (!stops) cores = &session.cores(extents, phase);
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::kBudget) throw;
    why = std::current_exception();
  } catch (const std::bad_alloc&) {
    why = std::current_exception();
  }
  if (transport.ranks() == 1) return cores;
  const std::int64_t vote = transport.all_reduce_min(stops ? kStops : why ? kRefused : kReady);
  if (vote == kReady) return cores;
  session.release();
  if (vote == kStops)
    why = std::make_exception_ptr(Stopped());
  else if (!why)
    why = std::make_exception_ptr(
        Error(ErrorKind::kBudget, kRefusedMemory,
              "[memory] the system refused memory for this case on another rank; use more hosts or a finer cut"));
  return nullptr;
}

/// Fills the inputs of the cores of this rank.
void feed_own_boxes(CoreSet& cores, const CoreWork& work, const nlohmann::json& note) {
  const Graph& graph = cores.executable().program.graph;
  for (ValueId id = 0; id < graph.size(); ++id) {
    const Node& node = graph.node(id);
    if (node.role == Role::kInput) cores.feed(id, [&](const TensorView& box) { work.fill(note, node.input, box); });
  }
}

/// Feeds, runs and gathers; all ranks do the same. Returns the bytes that this rank serialised.
std::int64_t run_together(Session& session, CoreSet& cores, const CoreWork& work, const CoreRun& run) {
  if (work.load) work.load(run.note, cores.executable().program);
  if (work.fill)
    feed_own_boxes(cores, work, run.note);
  else
    feed_from_first(session, cores, cores.executable().program.graph.find("image"), run.fill);
  if (run.fed) run.fed();
  cores.run();
  std::int64_t bytes = 0;
  if (work.serialise)
    bytes = gather_from_cores(
        session, cores, [&](std::size_t core) { return work.serialise(run.note, cores, core); }, run.take,
        run.look ? [&](std::size_t core) { run.look(cores, core); } : LookAtCore());
  if (work.done) work.done(run.note);
  return bytes;
}

/// Serialises the sizes that a rank other than 0 refuses, each with its error (serialise_error()).
std::string refusals(const PlannedBytes& planned) {
  nlohmann::json list = nlohmann::json::array();
  for (const auto& [extents, error] : planned.refused) list.push_back({shape_json(extents), serialise_error(error)});
  return pack_json(list);
}

void add_refusals(PlannedBytes& planned, const std::string& text, const std::string& from) {
  for (const nlohmann::json& one : nlohmann::json(unpack_cbor(text))) {
    const Shape extents = shape_from_json(one.at(0));
    planned.refused.emplace(extents, parse_error(one.at(1).get<std::string>(), from));
    planned.fits.erase(extents);
  }
}

nlohmann::json list_of(const std::set<Shape>& sizes) {
  nlohmann::json list = nlohmann::json::array();
  for (const Shape& extents : sizes) list.push_back(shape_json(extents));
  return list;
}

/// Plans on all ranks, on rank 0. The other ranks wait for it: it does not stop in between.
PlannedBytes planned_together(Session& session, const std::set<Shape>& sizes, Phase phase,
                              const PredictingProcess& process) {
  Transport& transport = session.transport();
  broadcast_request(session, kPlan, phase, list_of(sizes));
  PlannedBytes planned = planned_sizes(session, sizes, phase, process);
  const std::vector<std::string> all = gather_texts(transport, "");
  for (int rank = 1; rank < transport.ranks(); ++rank) add_refusals(planned, all[rank], transport.name(rank));
  planned.held += {{MemoryPart::kFeeding, feeding_bytes(session.pool().workers())}};
  return planned;
}

/// Lets the cores of all ranks take turns at the sizes of which they can on each; all ranks call it. The cut is that of
/// the rank that needs the finest: all halve the same parts in the same order.
void agree_on_turns(Session& session, const nlohmann::json& sizes, Phase phase) {
  Transport& transport = session.transport();
  nlohmann::json own = nlohmann::json::array();
  for (const nlohmann::json& extents : sizes) {
    const auto over = session.turns_over(shape_from_json(extents), phase);
    own.push_back(over ? nlohmann::json(to_string(*over)) : nlohmann::json());
  }
  const std::vector<std::string> all = gather_texts(transport, pack_json(own));
  const auto partition_of = [](const std::string& text) { return partition_from_text(text, partition_rank(text)); };
  const auto cores_of = [](const Dims& partition) { return Mesh{.partition = partition}.cores(); };
  nlohmann::json agreed = nlohmann::json::array();
  for (std::size_t i = 0; transport.rank() == 0 && i < sizes.size(); ++i) {
    std::optional<Dims> finest;
    bool everywhere = true;
    for (const std::string& text : all) {
      const nlohmann::json over = nlohmann::json(unpack_cbor(text)).at(i);
      everywhere = everywhere && over.is_string();
      if (!everywhere) break;
      const Dims partition = partition_of(over.get<std::string>());
      if (!finest || cores_of(partition) > cores_of(*finest)) finest = partition;
    }
    agreed.push_back(everywhere ? nlohmann::json(to_string(*finest)) : nlohmann::json());
  }
  agreed = unpack_cbor(broadcast_text(transport, pack_json(agreed)));
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (const nlohmann::json& over = agreed.at(i); over.is_string())
      session.take_turns(shape_from_json(sizes[i]), phase, partition_of(over.get<std::string>()));
}

/// Serves the requests of rank 0, on another rank, until rank 0 ends. Returns the memory used at the peak.
ProcessPlan take_part(ModelSessions& models, const CoreWork& work, const PredictingProcess& process) {
  ProcessPlan most = base_plan(process.base_bytes);
  while (true) {
    const nlohmann::json request = unpack_cbor(broadcast_text(models.transport(), ""));
    const std::string kind = request.at("kind");
    if (kind == kEnd) break;
    if (kind == kStop) throw Stopped();
    const auto model = request.at("model").get<std::size_t>();
    ensure(model < models.count(), "rank 0 names a model that there is");
    Session& session = models.session(model);
    if (kind == kPlan) {
      std::set<Shape> sizes;
      for (const nlohmann::json& extents : request.at("sizes")) sizes.insert(shape_from_json(extents));
      models.planned(model) = planned_sizes(session, sizes, phase_of(request), models.process_of(model, process));
      most = widest(most, models.held());
      gather_texts(session.transport(), refusals(models.planned(model)));
      continue;
    }
    if (kind == kTurns) {
      agree_on_turns(session, request.at("sizes"), phase_of(request));
      continue;
    }
    ensure(kind == kRun, "rank 0 broadcasts one of five requests");
    const CoreRun run{.extents = shape_from_json(request.at("sizes")), .note = request.at("note")};
    std::exception_ptr why;  // rank 0 reports it
    CoreSet* const cores = agreed_cores(session, run.extents, work.phase, why);
    if (cores == nullptr) continue;
    const std::int64_t bytes = run_together(session, *cores, work, run);
    most = widest(most,
                  models.held() + models.planned(model).cores(run.extents) +
                      ProcessPlan{{MemoryPart::kFeeding, work.fill ? 0 : kPieceBytes}, {MemoryPart::kResults, bytes}});
  }
  models.release();
  return most;
}

}  // namespace

CoreSet& run_cores(Session& session, const CoreWork& work, const CoreRun& run) {
  const bool alone = session.transport().ranks() == 1;
  if (!alone) broadcast_request(session, kRun, work.phase, shape_json(run.extents), run.note);
  std::exception_ptr why;
  CoreSet* const cores = agreed_cores(session, run.extents, work.phase, why);
  if (cores == nullptr) std::rethrow_exception(why);
  try {
    run_together(session, *cores, work, run);
  } catch (const RankFailed&) {
    throw;
  } catch (const Error& e) {
    if (alone) throw;
    throw EndsBatch(e);
  } catch (const std::bad_alloc&) {
    if (alone) throw;
    throw EndsBatch({ErrorKind::kBudget, kRefusedMemory,
                     "[memory] the system refused memory while several ranks predict; use more hosts or a finer cut"});
  }
  return *cores;
}

void coordinate(Session& session, const CoreWork& work, const PredictingProcess& process,
                const std::function<void()>& body, ProcessPlan* most) {
  ModelSessions alone({&session});
  coordinate(alone, work, process, body, most);
}

void coordinate(ModelSessions& models, const CoreWork& work, const PredictingProcess& process,
                const std::function<void()>& body, ProcessPlan* most) {
  Session& session = models.session(0);
  Transport& transport = session.transport();
  if (transport.ranks() == 1) return body();
  if (transport.rank() > 0) {
    const ProcessPlan widest_moment = take_part(models, work, process);
    if (most != nullptr) *most = widest_moment;
    return;
  }
  try {
    body();
  } catch (const Stopped&) {
    broadcast_request(session, kStop);
    throw;
  }
  broadcast_request(session, kEnd);
}

void let_take_turns(Session& session, const std::set<Shape>& sizes, Phase phase) {
  if (session.transport().ranks() > 1) broadcast_request(session, kTurns, phase, list_of(sizes));
  agree_on_turns(session, list_of(sizes), phase);
}

PlannedBytes plan_runs(Session& session, const std::set<Shape>& sizes, Phase phase, const std::string& inputs,
                       const PredictingProcess& process, Progress& progress) {
  const bool alone = session.transport().ranks() == 1;
  PlannedBytes planned = alone ? planned_sizes(session, sizes, phase, process, progress.stop_check())
                               : planned_together(session, sizes, phase, process);
  if (!alone && session.may_take_turns() && !planned.refused.empty()) {
    std::set<Shape> refused;
    for (const auto& [extents, error] : planned.refused) refused.insert(extents);
    let_take_turns(session, refused, phase);
    planned = planned_together(session, sizes, phase, process);
  }
  throw_if_stopped(progress);
  if (planned.fits.empty()) return planned;
  progress.log("planned: " + bytes_text(planned.core) + " per core, " + bytes_text(planned.host) +
               " in all of them for the largest of " + inputs);
  if (const PlanBytes* turns = planned.widest_turns())
    progress.log("cores take turns in memory: " + bytes_text(turns->run.turns.file_bytes) + " of them lie in a file, " +
                 bytes_text(turns->run.turns.resident_bytes) + " at a time in memory, over the cut " +
                 to_string(turns->partition));
  return planned;
}

}  // namespace voxshard
