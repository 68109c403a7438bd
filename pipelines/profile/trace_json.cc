#include "pipelines/profile/trace_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "io/files/atomic_file.h"
#include "io/files/structured_text.h"
#include "libcore/ranks/rank_clock.h"
#include "libcore/ranks/texts.h"
#include "pipelines/model_runs/rank_json.h"
#include "pipelines/profile/trace_events.h"

namespace voxshard {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kWallProcess = 1, kEmulatedProcess = 2;  // for one process; with ranks: their numbers, then the clock
constexpr const char* kResources[] = {"matrix unit", "vector unit", "memory", "links"};
constexpr int kResourceCount = 4, kMemoryThread = 2;

/// Returns, per core, true when it takes part in instruction `index`.
std::vector<bool> cores_at_work(const Program& program, std::size_t index) {
  const Instruction& instruction = program.instructions[index];
  std::vector<bool> works(static_cast<std::size_t>(program.mesh().cores()), false);
  const Box whole = Box::whole(program.graph.node(instruction.value).type.shape);
  switch (instruction.kind) {
    case InstructionKind::kCompute:
      if (instruction.blocks.size() < works.size())
        works.assign(works.size(), true);  // replicated: priced on every core
      else
        for (std::size_t c = 0; c < works.size(); ++c) works[c] = !instruction.blocks[c].empty();
      break;
    case InstructionKind::kJoin:
      works.assign(works.size(), true);
      break;
    case InstructionKind::kFillMargin: {
      const auto& held = program.plan(instruction.value).held;
      for (std::size_t c = 0; c < held.size(); ++c) works[c] = !whole.contains(held[c]);
      break;
    }
    case InstructionKind::kPack:
      break;  // done by the host
    case InstructionKind::kExchange:
      for (const Copy& copy : instruction.copies) works[copy.from] = works[copy.to] = true;
      break;
  }
  return works;
}

}  // namespace

/// The content of the emulated clock: names, and per core the instructions in which it takes part.
struct TraceFile::Emulated {
  StepPrice price;
  std::vector<TraceInstruction> names;
  std::vector<std::vector<bool>> works;  // per instruction, per core
  std::int64_t cores = 0;
  int pid = kEmulatedProcess;

  /// Writes the emulated clock. The price of an instruction is that of its slowest core and is shown on every core that
  /// takes part. Returns the number of cores that fit into `room` events.
  std::int64_t put(EventStream& stream, std::int64_t room) const {
    stream.name("process_name", pid, 0, "emulated clock");
    for (std::int64_t host = 0; host < price.feeding_hosts && price.feed_s > 0; ++host) {
      const std::int64_t thread = cores * kResourceCount + host;
      stream.name("thread_name", pid, thread, "host " + std::to_string(host) + " feeding");
      stream.complete("feed of the next step", "feed", pid, thread, 0, price.feed_s, Json::object());
    }
    auto events = static_cast<std::int64_t>(names.size()) * kResourceCount;  // upper bound per core
    for (const InstructionPrice& p : price.instructions) events += static_cast<std::int64_t>(p.passes.size());
    for (std::int64_t core = 0; core < cores; ++core) {
      room -= events;
      if (room < 0) return core;
      put_core(stream, core);
    }
    return cores;
  }

  void put_core(EventStream& stream, std::int64_t core) const {
    for (int r = 0; r < kResourceCount; ++r)
      stream.name("thread_name", pid, core * kResourceCount + r, "core " + std::to_string(core) + " " + kResources[r]);
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (!works[i][core]) continue;
      const InstructionPrice& p = price.instructions[i];
      double begin = p.begin_s;
      for (const Pass& pass : p.passes) {  // passes of a TPU come first, one after the other
        const std::string kind = kPassNames[static_cast<std::size_t>(pass.kind)];
        const Json args = {{"instruction", i},  {"pass", kind}, {"layer", names[i].layer},
                           {"axis", pass.axis}, {"core", core}, {"bytes", pass.bytes}};
        stream.complete(kind + " for " + names[i].layer, "passes", pid, core * kResourceCount + kMemoryThread, begin,
                        pass.seconds, args);
        begin += pass.seconds;
      }
      const double busy[kResourceCount] = {p.slowest.matrix_s, p.slowest.vector_s, p.slowest.memory_s,
                                           p.slowest.link_s};
      for (int r = 0; r < kResourceCount; ++r) {
        if (busy[r] <= 0) continue;
        Json args = {{"instruction", i}, {"layer", names[i].layer}, {"op", names[i].op}, {"core", core}};
        if (r == kResourceCount - 1) args.update({{"bytes", p.bytes}, {"messages", p.messages}, {"hops", p.hops}});
        stream.complete(names[i].layer, kResources[r], pid, core * kResourceCount + r, begin, busy[r], args);
      }
    }
  }
};

OutputKind profile_file() {
  const auto begins = begins_with({R"({"traceEvents":[)"}),
             ends = ends_around(R"("program":"voxshard )");  // in "otherData"
  return {"a profile of voxshard", {".json"}, [=](const std::filesystem::path& path) {
            return begins(path) && ends(path);
          }};
}

TraceFile::TraceFile(TraceOptions options, int workers, Transport* transport)
    : options_(std::move(options)), transport_(transport != nullptr && transport->ranks() > 1 ? transport : nullptr) {
  if (options_.file.empty()) return;
  recorder_.emplace(
      TraceRecorder::Options{.workers = workers, .most_steps = options_.steps, .most_events = options_.most_events});
  if (transport_ == nullptr || transport_->rank() == 0)
    static_cast<void>(AtomicFile(options_.file));  // removed without commit()
}

TraceFile::~TraceFile() = default;

TraceRecorder* TraceFile::recorder() { return recorder_ ? &*recorder_ : nullptr; }

void TraceFile::price(const Program& program, const OpTable& ops, const Feed& feed) {
  if (!recorder_ || options_.device == nullptr || !options_.device->emulated() || emulated_ != nullptr) return;
  auto emulated = std::make_unique<Emulated>();
  emulated->price = options_.device->price(program, ops, feed);
  emulated->cores = program.mesh().cores();
  if (transport_ != nullptr) emulated->pid = transport_->ranks();
  TraceRecorder names({.workers = 1, .most_steps = 1, .most_events = 0});
  names.begin_step(program);
  emulated->names = names.programs().front();
  for (std::size_t i = 0; i < program.instructions.size(); ++i) emulated->works.push_back(cores_at_work(program, i));
  emulated_ = std::move(emulated);
}

void TraceFile::begin_step(const Program& program) {
  if (recorder_) recorder_->begin_step(program);
}

void TraceFile::end_step() {
  if (!recorder_) return;
  recorder_->end_step();
  if (recorder_->done()) write();
}

void TraceFile::write() {
  if (!recorder_ || written_) return;
  written_ = true;
  if (transport_ == nullptr) return write_file(false);
  const ClockOffset ahead = offset_to_first(*transport_, [&] { return recorder_->now_s(); });
  transport_->rank() == 0 ? write_file(true) : send_events(ahead);
}

WallProcess TraceFile::wall(double ahead_s) const {
  if (transport_ == nullptr) return {.pid = kWallProcess, .name = "wall clock"};
  const int rank = transport_->rank();
  return {.pid = rank, .name = transport_->name(rank), .rank = rank, .ahead_s = ahead_s};
}

/// Sends the events in pieces, then an empty text, then the data that `receive_events` puts into the last lines of the
/// file.
void TraceFile::send_events(const ClockOffset& ahead) {
  EventStream stream([&](const std::string& text) { send_text(*transport_, 0, text); }, true);
  put_wall(stream, *recorder_, wall(ahead.seconds));
  stream.flush();
  send_text(*transport_, 0, "");
  const Json last = {{"rank", transport_->name(transport_->rank())},
                     {"clock_offset_seconds", ahead.seconds},
                     {"clock_round_trip_seconds", ahead.round_trip_s},
                     {"dropped_events", recorder_->dropped()}};
  send_text(*transport_, 0, pack_json(last));
}

Json TraceFile::receive_events(std::ostream& out) {
  Json ranks = Json::array();
  for (int from = 1; from < transport_->ranks(); ++from) {
    for (std::string text; !(text = receive_text(*transport_, from)).empty();) out << text;
    ranks.push_back(unpack_cbor(receive_text(*transport_, from)));
  }
  return ranks;
}

void TraceFile::write_file(bool with_ranks) {
  write_file_atomically(options_.file, [&](std::ostream& out) {
    out << "{\"traceEvents\":[";
    EventStream stream([&](const std::string& text) { out << text; });
    put_wall(stream, *recorder_, wall(0));
    stream.flush();
    Json other = Json::object();
    if (with_ranks) other["other_ranks"] = receive_events(out);
    std::int64_t dropped = recorder_->dropped();
    for (const Json& rank : other.value("other_ranks", Json::array()))
      dropped += rank.at("dropped_events").get<std::int64_t>();
    other.update({{"program", std::string("voxshard ") + VOXSHARD_VERSION},
                  {"steps", recorder_->steps().size()},
                  {"most_steps", options_.steps},
                  {"most_events_per_clock", options_.most_events},
                  {"dropped_events", dropped}});
    if (emulated_ != nullptr) {
      other["device"] = options_.device->name();
      other["emulated_step_seconds"] = emulated_->price.step_s;
      other["emulated_cores"] = emulated_->cores;
      other["emulated_cores_shown"] = emulated_->put(stream, options_.most_events);
    }
    stream.flush();
    out << "\n],\n\"displayTimeUnit\":\"ms\",\n\"otherData\":" << other.dump() << "}\n";
  });
}

}  // namespace voxshard
