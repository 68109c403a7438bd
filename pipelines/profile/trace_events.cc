#include "pipelines/profile/trace_events.h"

namespace voxshard {
namespace {

using Json = nlohmann::ordered_json;

const char* kind_name(TraceKind kind) {
  switch (kind) {
    case TraceKind::kTask:
      return "task";
    case TraceKind::kJoin:
      return "join";
    case TraceKind::kFillMargin:
      return "fill";
    case TraceKind::kExchange:
      return "exchange";
    case TraceKind::kPack:
      return "pack";
    case TraceKind::kSend:
      return "send";
    case TraceKind::kReceive:
      return "receive";
    case TraceKind::kWait:
      return "wait";
  }
  return "";
}

/// Writes an arrow from the send of a message to its unpacking; an exchange sends at most one message from one rank to
/// another.
void put_flow(EventStream& stream, const TraceEvent& event, const WallProcess& process) {
  if (event.kind != TraceKind::kSend && event.kind != TraceKind::kReceive) return;
  const bool sends = event.kind == TraceKind::kSend;
  const auto [from, to] = sends ? std::pair(process.rank, event.peer) : std::pair(event.peer, process.rank);
  Json flow = {{"name", "message"},
               {"cat", "message"},
               {"ph", sends ? "s" : "f"},
               {"id", std::to_string(event.step) + ":" + std::to_string(event.instruction) + ":" +
                          std::to_string(from) + ">" + std::to_string(to)},
               {"pid", process.pid},
               {"tid", event.worker},
               {"ts", (event.begin_s + process.ahead_s) * 1e6}};
  if (!sends) flow["bp"] = "e";
  stream.put(flow);
}

}  // namespace

void EventStream::put(const Json& event) {
  constexpr std::size_t kPiece = 1 << 16;
  text_ += first_ ? "\n" : ",\n";
  text_ += event.dump(-1, ' ', false, Json::error_handler_t::replace);
  first_ = false;
  if (text_.size() >= kPiece) flush();
}

void EventStream::name(const char* what, int process, std::int64_t thread, const std::string& name) {
  put({{"name", what}, {"ph", "M"}, {"pid", process}, {"tid", thread}, {"args", {{"name", name}}}});
}

void EventStream::complete(const std::string& name, const std::string& category, int process, std::int64_t thread,
                           double begin_s, double seconds, const Json& args) {
  put({{"name", name},
       {"cat", category},
       {"ph", "X"},
       {"pid", process},
       {"tid", thread},
       {"ts", begin_s * 1e6},
       {"dur", seconds * 1e6},
       {"args", args}});
}

void EventStream::flush() {
  if (!text_.empty()) sink_(text_);
  text_.clear();
}

void put_wall(EventStream& stream, const TraceRecorder& recorder, const WallProcess& process) {
  const int workers = recorder.options().workers;
  stream.name("process_name", process.pid, 0, process.name);
  for (int w = 0; w < workers; ++w) stream.name("thread_name", process.pid, w, "worker " + std::to_string(w));
  stream.name("thread_name", process.pid, workers, "steps");
  for (std::size_t i = 0; i < recorder.steps().size(); ++i) {
    const TraceStep& step = recorder.steps()[i];
    if (step.end_s > 0)
      stream.complete("step " + std::to_string(i), "step", process.pid, workers, step.begin_s + process.ahead_s,
                      step.end_s - step.begin_s, {{"step", i}});
  }
  for (int w = 0; w < workers; ++w)
    for (const TraceEvent& e : recorder.events(w)) {
      const TraceInstruction& names = recorder.programs()[e.program][e.instruction];
      Json args = {{"instruction", e.instruction}, {"layer", names.layer}, {"op", names.op}, {"step", e.step}};
      if (e.core >= 0) args["core"] = e.core;
      if (e.peer >= 0) args["rank"] = e.peer;
      args["bytes"] = e.bytes;
      stream.complete(names.layer, kind_name(e.kind), process.pid, w, e.begin_s + process.ahead_s, e.end_s - e.begin_s,
                      args);
      put_flow(stream, e, process);
    }
}

}  // namespace voxshard
