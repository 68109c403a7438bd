#include "pipelines/runs/lead.h"

#include <algorithm>
#include <exception>
#include <new>

#include "io/files/structured_text.h"
#include "libcore/base/text.h"
#include "libcore/ranks/texts.h"
#include "pipelines/runs/rank_json.h"

namespace voxshard {
namespace {

constexpr const char *kPlan = "plan", *kRun = "run", *kEnd = "end", *kStop = "stop";  // words of rank 0

void say(Session& session, const char* word, const nlohmann::json& of_it = {}, const nlohmann::json& note = {}) {
  text_of_first(session.transport(), pack_json(nlohmann::json{{"word", word}, {"of", of_it}, {"note", note}}));
}

/// The core set for a size, once every rank has its own and none was asked to stop; else null on all of them, and `why`
/// says what keeps them: Stopped, or the memory that one was refused. Alone a stop is asked for within the run.
CoreSet* agreed_cores(Session& session, const Shape& extents, std::exception_ptr& why) {
  constexpr std::int64_t kStops = -1, kRefused = 0, kReady = 1;
  Transport& transport = session.transport();
  const bool stops = transport.ranks() > 1 && session.stop_requested();
  CoreSet* cores = nullptr;
  try {
    if (!stops) cores = &session.cores(extents, Phase::kPredict);
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::kBudget) throw;
    why = std::current_exception();
  } catch (const std::bad_alloc&) {
    why = std::current_exception();
  }
  if (transport.ranks() == 1) return cores;
  const std::int64_t vote = transport.lowest(stops ? kStops : why ? kRefused : kReady);
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

/// What all ranks do alike. Returns the bytes that this one packed.
std::int64_t run_together(Session& session, CoreSet& cores, const RankWork& work, const LedRun& run) {
  const ValueId image = cores.executable().program.graph.find("image");
  if (work.fill)
    cores.feed(image, [&](const TensorView& box) { work.fill(run.note, box); });
  else
    feed_from_first(session, cores, image, run.fill);
  if (run.fed) run.fed();
  cores.run();
  std::int64_t packed = 0;
  if (work.pack)
    packed = gather_from_cores(
        session, cores, [&](std::size_t core) { return work.pack(run.note, cores, core); }, run.take);
  if (work.done) work.done(run.note);
  return packed;
}

/// What a rank other than 0 refuses, one text each: see told().
std::string refusals(const PlannedBytes& planned) {
  nlohmann::json list = nlohmann::json::array();
  for (const auto& [extents, error] : planned.refused) list.push_back({shape_json(extents), told(error)});
  return pack_json(list);
}

void add_refusals(PlannedBytes& planned, const std::string& text, const std::string& from) {
  for (const nlohmann::json& one : nlohmann::json(unpack_cbor(text))) {
    const Shape extents = shape_from_json(one.at(0));
    planned.refused.emplace(extents, heard(one.at(1).get<std::string>(), from));
    planned.fits.erase(extents);
  }
}

/// Until rank 0 says the end. Returns what this rank took at its widest moment.
ProcessPlan follow(Session& session, const RankWork& work, const PredictingProcess& process) {
  PlannedBytes planned;
  ProcessPlan most = base_plan(process.base_bytes);
  while (true) {
    const nlohmann::json said = unpack_cbor(text_of_first(session.transport(), ""));
    const std::string word = said.at("word");
    if (word == kEnd) break;
    if (word == kStop) throw Stopped();
    if (word == kPlan) {
      std::set<Shape> sizes;
      for (const nlohmann::json& extents : said.at("of")) sizes.insert(shape_from_json(extents));
      planned = planned_sizes(session, sizes, process);
      most = widest(most, planned.held);
      gather_texts(session.transport(), refusals(planned));
      continue;
    }
    ensure(word == kRun, "rank 0 says one of four words");
    const LedRun run{.extents = shape_from_json(said.at("of")), .note = said.at("note")};
    std::exception_ptr why;  // rank 0 says it
    CoreSet* const cores = agreed_cores(session, run.extents, why);
    if (cores == nullptr) continue;
    const std::int64_t packed = run_together(session, *cores, work, run);
    most = widest(most,
                  planned.held + planned.cores(run.extents) +
                      ProcessPlan{{MemoryPart::kFeeding, work.fill ? 0 : kPieceBytes}, {MemoryPart::kResults, packed}});
  }
  session.release();
  return most;
}

}  // namespace

CoreSet& run_led(Session& session, const RankWork& work, const LedRun& run) {
  const bool alone = session.transport().ranks() == 1;
  if (!alone) say(session, kRun, shape_json(run.extents), run.note);
  std::exception_ptr why;
  CoreSet* const cores = agreed_cores(session, run.extents, why);
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

std::string lead(Session& session, const RankWork& work, const PredictingProcess& process,
                 const std::function<std::string()>& body, ProcessPlan* followed) {
  Transport& transport = session.transport();
  if (transport.ranks() == 1) return body();
  if (transport.rank() > 0) {
    const ProcessPlan most = follow(session, work, process);
    if (followed != nullptr) *followed = most;
    return text_of_first(transport, "");
  }
  std::string result;
  try {
    result = body();
  } catch (const Stopped&) {
    say(session, kStop);
    throw;
  }
  say(session, kEnd);
  return text_of_first(transport, std::move(result));
}

std::vector<double> lead_numbers(Session& session, const RankWork& work,
                                 const std::function<std::vector<double>()>& body) {
  const std::string bytes = lead(session, work, {}, [&] {
    const std::vector<double> numbers = body();
    return std::string(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(double));
  });
  ensure(bytes.size() % sizeof(double) == 0, "rank 0 says whole numbers of 8 bytes");
  std::vector<double> numbers(bytes.size() / sizeof(double));
  std::copy_n(bytes.data(), numbers.size() * sizeof(double), reinterpret_cast<char*>(numbers.data()));
  return numbers;
}

PlannedBytes plan_predictions(Session& session, const std::set<Shape>& sizes, const std::string& inputs,
                              const PredictingProcess& process, Progress& progress) {
  Transport& transport = session.transport();
  const bool alone = transport.ranks() == 1;
  if (!alone) {
    nlohmann::json list = nlohmann::json::array();
    for (const Shape& extents : sizes) list.push_back(shape_json(extents));
    say(session, kPlan, list);
  }
  // Others wait for this rank's answer: it stops behind it.
  PlannedBytes planned = planned_sizes(session, sizes, process, alone ? progress.stop_check() : StopCheck());
  if (!alone) {
    const std::vector<std::string> all = gather_texts(transport, "");
    for (int rank = 1; rank < transport.ranks(); ++rank)
      add_refusals(planned, all[static_cast<std::size_t>(rank)], transport.name(rank));
    planned.held += {{MemoryPart::kFeeding, feeding_bytes(session.pool().workers())}};
  }
  throw_if_stopped(progress);
  if (!planned.refused.empty() && planned.fits.empty()) throw planned.refused.begin()->second;
  progress.log("planned: " + bytes_text(planned.core) + " per core, " + bytes_text(planned.host) +
               " in all of them for the largest of " + inputs);
  return planned;
}

}  // namespace voxshard
