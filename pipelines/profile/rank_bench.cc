#include "pipelines/profile/rank_bench.h"

#include <numeric>

#include "io/files/structured_text.h"
#include "libcore/ranks/texts.h"
#include "pipelines/model_runs/rank_json.h"

namespace voxshard {
namespace {

using Json = nlohmann::ordered_json;

Traffic& operator+=(Traffic& a, const Traffic& b) {
  a.messages += b.messages;
  a.bytes += b.bytes;
  return a;
}

Traffic sum_of(const std::vector<Traffic>& all) {
  Traffic sum;
  for (const Traffic& one : all) sum += one;
  return sum;
}

double sum_of(const std::vector<double>& all) { return std::accumulate(all.begin(), all.end(), 0.0); }

Json traffic_text(const std::vector<Traffic>& all) {
  Json rows = Json::array();
  for (const Traffic& one : all) rows.push_back({one.messages, one.bytes});
  return rows;
}

std::vector<Traffic> traffic_from(const Json& rows) {
  std::vector<Traffic> all;
  for (const Json& row : rows) all.push_back({row.at(0).get<std::int64_t>(), row.at(1).get<std::int64_t>()});
  return all;
}

/// Serialises a rank's figures for another rank of the same program.
std::string text_of(const RankBench& rank) {
  return pack_json({{"step_seconds", rank.step_seconds},
                    {"memory", rank.memory},
                    {"worker_seconds", rank.instructions.worker_seconds},
                    {"waited_seconds", rank.instructions.waited_seconds},
                    {"sent", traffic_text(rank.instructions.sent)}});
}

RankBench rank_from(const Json& json) {
  return {.step_seconds = json.at("step_seconds").get<double>(),
          .memory = json.at("memory"),
          .instructions = {.worker_seconds = json.at("worker_seconds").get<std::vector<double>>(),
                           .sent = traffic_from(json.at("sent")),
                           .waited_seconds = json.at("waited_seconds").get<std::vector<double>>()}};
}

Json traffic_sums(const Traffic& sent, const Traffic& planned, double waited_s) {
  return {{"messages", sent.messages},
          {"bytes", sent.bytes},
          {"program_messages", planned.messages},
          {"program_bytes", planned.bytes},
          {"waited_seconds", waited_s}};
}

}  // namespace

InstructionCounts counts_of(const CoreSet& cores) {
  return {.worker_seconds = cores.seconds_by_instruction(),
          .sent = cores.traffic_by_instruction(),
          .waited_seconds = cores.waited_by_instruction()};
}

InstructionCounts counts_of_step(const InstructionCounts& before, InstructionCounts after, int steps) {
  for (std::size_t i = 0; i < after.worker_seconds.size(); ++i)
    after.worker_seconds[i] = (after.worker_seconds[i] - before.worker_seconds[i]) / steps;
  for (std::size_t i = 0; i < after.sent.size(); ++i) {
    after.sent[i] = {(after.sent[i].messages - before.sent[i].messages) / steps,
                     (after.sent[i].bytes - before.sent[i].bytes) / steps};
    after.waited_seconds[i] = (after.waited_seconds[i] - before.waited_seconds[i]) / steps;
  }
  return after;
}

std::vector<RankBench> gather_ranks(Transport& transport, RankBench own, const Executable& executable) {
  std::vector<RankBench> ranks;
  for (const std::string& text : gather_texts(transport, text_of(own))) ranks.push_back(rank_from(unpack_cbor(text)));
  const std::int64_t cores = executable.program.mesh().cores();
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const Ranks place{static_cast<int>(r), transport.ranks()};
    ranks[r].name = transport.name(place.rank);
    ranks[r].first_core = place.first(cores);
    ranks[r].cores = place.end(cores) - place.first(cores);
    for (std::size_t i = 0; i < executable.program.instructions.size(); ++i)
      ranks[r].planned.push_back(traffic_of(executable.program, executable.schedule, i, place));
  }
  return ranks;
}

Json to_json(const std::vector<RankBench>& ranks) {
  Json rows = Json::array();
  for (const RankBench& rank : ranks) {
    Json row = {{"rank", rows.size()},
                {"name", rank.name},
                {"first_core", rank.first_core},
                {"cores", rank.cores},
                {"step_seconds", rank.step_seconds},
                {"worker_seconds", sum_of(rank.instructions.worker_seconds)}};
    row.update(
        traffic_sums(sum_of(rank.instructions.sent), sum_of(rank.planned), sum_of(rank.instructions.waited_seconds)));
    row["memory"] = rank.memory;
    rows.push_back(std::move(row));
  }
  return rows;
}

Json traffic_json(const std::vector<RankBench>& ranks, const std::vector<std::pair<std::string, std::string>>& names) {
  Traffic sent, planned;
  double waited_s = 0;
  Json rows = Json::array();
  for (std::size_t i = 0; i < names.size(); ++i) {
    Traffic row_sent, row_planned;
    double row_waited_s = 0;
    Json by_rank = Json::array();
    for (const RankBench& rank : ranks) {
      row_sent += rank.instructions.sent[i];
      row_planned += rank.planned[i];
      row_waited_s += rank.instructions.waited_seconds[i];
      by_rank.push_back(traffic_sums(rank.instructions.sent[i], rank.planned[i], rank.instructions.waited_seconds[i]));
    }
    if (row_sent == Traffic() && row_planned == Traffic()) continue;
    sent += row_sent;
    planned += row_planned;
    waited_s += row_waited_s;
    Json row = {{"layer", names[i].first}, {"op", names[i].second}};
    row.update(traffic_sums(row_sent, row_planned, row_waited_s));
    row["by_rank"] = std::move(by_rank);
    rows.push_back(std::move(row));
  }
  Json json = traffic_sums(sent, planned, waited_s);
  json["by_instruction"] = std::move(rows);
  return json;
}

}  // namespace voxshard
