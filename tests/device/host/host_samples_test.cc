// Tests of the samples that the doctor measures: they cover every op that a program may hold, and each can be run.
#include "pipelines/profile/host_samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "libcore/ops/op_table.h"
#include "pipelines/profile/measure_host.h"

namespace voxshard {
namespace {

TEST(HostSamples, EveryOpOfTheTableIsMeasured) {
  std::set<std::string> measured;
  for (const HostSamples& s : host_samples(op_table(), {.quick = true})) measured.insert(s.table.op);
  for (const auto& [name, def] : op_table().all()) EXPECT_TRUE(measured.contains(name)) << name << " has no sample";
}

TEST(HostSamples, AnOpWithoutASampleIsLeftOut) {
  OpTable ops;
  OpDef def = op_table().at("add");
  def.sample = {};
  ops.add(def);
  for (const HostSamples& s : host_samples(ops, {.quick = true})) EXPECT_NE(s.table.op, "add");
}

TEST(HostSamples, EachRunsAndMovesWhatItsPointAsksFor) {
  for (const HostSamples& s : host_samples(op_table(), {.quick = true})) {
    HostSamples::Point low{};
    for (std::size_t a = 0; a < s.table.axes.size(); ++a) low[a] = s.table.axes[a].points.front();
    const auto probe = s.use(low);
    ASSERT_TRUE(probe.has_value()) << s.table.op;
    ProbeMemory memory(probe->need);
    if (probe->pack) probe->pack(memory);
    probe->run(memory);
    if (s.table.unit == "flop/s") {
      EXPECT_GT(probe->work.flops, 0) << s.table.op;
      EXPECT_GT(probe->work.products.count, 0) << s.table.op;
      continue;
    }
    EXPECT_GT(probe->work.bytes, low[1] / 8) << s.table.op;
    EXPECT_LT(probe->work.bytes, low[1] * 8) << s.table.op;
  }
}

TEST(HostSamples, AMeasurementHasARateForEveryOpAndComesBackFromItsFile) {
  NoProgress progress;
  HostRates rates = measure_host({.threads = 1, .quick = true, .call_seconds = 1e-6, .most_flops = 2e7}, progress);
  rates.cpu = rates.how = "test", rates.memory_bytes = 1;
  const HostRates back = host_rates_from_json(nlohmann::json::parse(to_json(rates).dump()), "host.json");
  for (const auto& [name, def] : op_table().all())
    for (double value : back.at(name, DType::kF32, {}).values) EXPECT_GT(value, 0) << name;
}

}  // namespace
}  // namespace voxshard
