// The format: https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU (Trace Event Format),
// complete events ("ph": "X"), times in microseconds.
#include "pipelines/profile/trace_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "io/files/atomic_file.h"

namespace voxshard {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kWallProcess = 1, kEmulatedProcess = 2;
constexpr const char* kResources[] = {"matrix unit", "vector unit", "memory", "links"};
constexpr int kResourceCount = 4, kMemoryThread = 2;

/// Writes events one by one: a long profile never exists as a tree in memory.
class EventStream {
 public:
  explicit EventStream(std::ostream& out) : out_(out) { out_ << "{\"traceEvents\":["; }

  void put(const Json& event) {
    out_ << (first_ ? "\n" : ",\n") << event.dump(-1, ' ', false, Json::error_handler_t::replace);
    first_ = false;
  }
  void name(const char* what, int process, std::int64_t thread, const std::string& name) {
    put({{"name", what}, {"ph", "M"}, {"pid", process}, {"tid", thread}, {"args", {{"name", name}}}});
  }
  void complete(const std::string& name, const std::string& category, int process, std::int64_t thread, double begin_s,
                double seconds, const Json& args) {
    put({{"name", name},
         {"cat", category},
         {"ph", "X"},
         {"pid", process},
         {"tid", thread},
         {"ts", begin_s * 1e6},
         {"dur", seconds * 1e6},
         {"args", args}});
  }
  void finish(const Json& other) {
    out_ << "\n],\n\"displayTimeUnit\":\"ms\",\n\"otherData\":" << other.dump() << "}\n";
  }

 private:
  std::ostream& out_;
  bool first_ = true;
};

const char* kind_name(TraceKind kind) {
  switch (kind) {
    case TraceKind::kTask: return "task";
    case TraceKind::kJoin: return "join";
    case TraceKind::kFillMargin: return "fill";
    case TraceKind::kExchange: return "exchange";
    case TraceKind::kPack: return "pack";
  }
  return "";
}

void put_wall(EventStream& stream, const TraceRecorder& recorder) {
  const int workers = recorder.options().workers;
  stream.name("process_name", kWallProcess, 0, "wall clock");
  for (int w = 0; w < workers; ++w) stream.name("thread_name", kWallProcess, w, "worker " + std::to_string(w));
  stream.name("thread_name", kWallProcess, workers, "steps");
  for (std::size_t i = 0; i < recorder.steps().size(); ++i) {
    const TraceStep& step = recorder.steps()[i];
    if (step.end_s > 0)
      stream.complete("step " + std::to_string(i), "step", kWallProcess, workers, step.begin_s, step.end_s - step.begin_s,
                      {{"step", i}});
  }
  for (int w = 0; w < workers; ++w)
    for (const TraceEvent& e : recorder.events(w)) {
      const TraceInstruction& names =
          recorder.programs()[static_cast<std::size_t>(e.program)][static_cast<std::size_t>(e.instruction)];
      Json args = {{"instruction", e.instruction}, {"layer", names.layer}, {"op", names.op}, {"step", e.step}};
      if (e.core >= 0) args["core"] = e.core;
      args["bytes"] = e.bytes;
      stream.complete(names.layer, kind_name(e.kind), kWallProcess, w, e.begin_s, e.end_s - e.begin_s, args);
    }
}

/// Which cores take part in instruction `index`.
std::vector<bool> cores_at_work(const Program& program, std::size_t index) {
  const Instruction& instruction = program.instructions[index];
  std::vector<bool> works(static_cast<std::size_t>(program.mesh().cores()), false);
  const Box whole = Box::whole(program.graph.node(instruction.value).type.shape);
  switch (instruction.kind) {
    case InstructionKind::kCompute:
      if (instruction.blocks.size() < works.size()) works.assign(works.size(), true);  // replicated: priced on every core
      else for (std::size_t c = 0; c < works.size(); ++c) works[c] = !instruction.blocks[c].empty();
      break;
    case InstructionKind::kJoin: works.assign(works.size(), true); break;
    case InstructionKind::kFillMargin: {
      const auto& held = program.plan(instruction.value).held;
      for (std::size_t c = 0; c < held.size(); ++c) works[c] = !whole.contains(held[c]);
      break;
    }
    case InstructionKind::kPack: break;  // of the host
    case InstructionKind::kExchange:
      for (const Copy& copy : instruction.copies)
        works[static_cast<std::size_t>(copy.from)] = works[static_cast<std::size_t>(copy.to)] = true;
      break;
  }
  return works;
}

}  // namespace

/// What the emulated clock shows: names, and per core the instructions that it takes part in.
struct TraceFile::Emulated {
  StepPrice price;
  std::vector<TraceInstruction> names;
  std::vector<std::vector<bool>> works;  // per instruction, per core
  std::int64_t cores = 0;

  /// The price of an instruction is that of its slowest core; every core that takes part is shown with it. Returns how
  /// many cores had room.
  std::int64_t put(EventStream& stream, std::int64_t room) const {
    stream.name("process_name", kEmulatedProcess, 0, "emulated clock");
    for (std::int64_t host = 0; host < price.feeding_hosts && price.feed_s > 0; ++host) {
      const std::int64_t thread = cores * kResourceCount + host;
      stream.name("thread_name", kEmulatedProcess, thread, "host " + std::to_string(host) + " feeding");
      stream.complete("feed of the next step", "feed", kEmulatedProcess, thread, 0, price.feed_s, Json::object());
    }
    auto events = static_cast<std::int64_t>(names.size()) * kResourceCount;  // of a core, at most
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
      stream.name("thread_name", kEmulatedProcess, core * kResourceCount + r, "core " + std::to_string(core) + " " + kResources[r]);
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (!works[i][static_cast<std::size_t>(core)]) continue;
      const InstructionPrice& p = price.instructions[i];
      double begin = p.begin_s;
      for (const Pass& pass : p.passes) {  // a TPU's, in front and one after the other
        const std::string kind = kPassNames[static_cast<std::size_t>(pass.kind)];
        const Json args = {{"instruction", i}, {"pass", kind}, {"layer", names[i].layer}, {"axis", pass.axis}, {"core", core}, {"bytes", pass.bytes}};
        stream.complete(kind + " for " + names[i].layer, "passes", kEmulatedProcess, core * kResourceCount + kMemoryThread, begin, pass.seconds, args);
        begin += pass.seconds;
      }
      const double busy[kResourceCount] = {p.slowest.matrix_s, p.slowest.vector_s, p.slowest.memory_s, p.slowest.link_s};
      for (int r = 0; r < kResourceCount; ++r) {
        if (busy[r] <= 0) continue;
        Json args = {{"instruction", i}, {"layer", names[i].layer}, {"op", names[i].op}, {"core", core}};
        if (r == kResourceCount - 1) args.update({{"bytes", p.bytes}, {"messages", p.messages}, {"hops", p.hops}});
        stream.complete(names[i].layer, kResources[r], kEmulatedProcess, core * kResourceCount + r, begin, busy[r], args);
      }
    }
  }
};

OutputKind profile_file() {
  const auto begins = begins_with({R"({"traceEvents":[)"}), ends = ends_around(R"("program":"voxshard )");  // "otherData" ends it
  return {"a profile of voxshard", {".json"}, [=](const std::filesystem::path& path) { return begins(path) && ends(path); }};
}

TraceFile::TraceFile(TraceOptions options, int workers) : options_(std::move(options)) {
  if (options_.file.empty()) return;
  recorder_.emplace(TraceRecorder::Options{.workers = workers, .most_steps = options_.steps, .most_events = options_.most_events});
  write();
  written_ = false;
}

TraceFile::~TraceFile() = default;

TraceRecorder* TraceFile::recorder() { return recorder_ ? &*recorder_ : nullptr; }

void TraceFile::price(const Program& program, const OpTable& ops, const Feed& feed) {
  if (!recorder_ || options_.device == nullptr || !options_.device->emulated() || emulated_ != nullptr) return;
  auto emulated = std::make_unique<Emulated>();
  emulated->price = options_.device->price(program, ops, feed);
  emulated->cores = program.mesh().cores();
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
  write_file_atomically(options_.file, [&](std::ostream& out) {
    EventStream stream(out);
    put_wall(stream, *recorder_);
    Json other = {{"program", std::string("voxshard ") + VOXSHARD_VERSION},
                  {"steps", recorder_->steps().size()},
                  {"most_steps", options_.steps},
                  {"most_events_per_clock", options_.most_events},
                  {"dropped_events", recorder_->dropped()}};
    if (emulated_ != nullptr) {
      other["device"] = options_.device->name();
      other["emulated_step_seconds"] = emulated_->price.step_s;
      other["emulated_cores"] = emulated_->cores;
      other["emulated_cores_shown"] = emulated_->put(stream, options_.most_events);
    }
    stream.finish(other);
  });
  written_ = true;
}

}  // namespace voxshard
