// Measured rates: interpolation, the choice of a table, and the refusals of the JSON form.
#include "libcore/device/host/host_rates.h"

#include <functional>
#include <nlohmann/json.hpp>

#include "libcore/base/error.h"
#include "libcore/device/host/host_price.h"
#include "pipelines/profile/device_files.h"
#include "tests/device/host/host_scene.h"
#include "tests/partition/partition_scene.h"

namespace voxshard {
namespace {

using namespace test;

RateTable grid() {
  RateTable t = flat_table("add", DType::kF32, 0, 1);
  t.axes = {{"channels", {1, 16}}, {"bytes", {1e3, 1e5, 1e6}}};
  t.values = {1, 100, 400, 2, 200, 800};
  return t;
}

TEST(RateTable, IsExactAtItsPoints) {
  EXPECT_DOUBLE_EQ(grid().at({1, 1e3, 0, 0}), 1);
  EXPECT_DOUBLE_EQ(grid().at({16, 1e5, 0, 0}), 200);
  EXPECT_DOUBLE_EQ(grid().at({16, 1e6, 0, 0}), 800);
}

TEST(RateTable, IsLinearInLogarithmsBetweenPoints) {
  EXPECT_NEAR(grid().at({1, 1e4, 0, 0}), 10, 1e-12);              // halfway from 1e3 to 1e5: the root of 1 * 100
  EXPECT_NEAR(grid().at({4, 1e3, 0, 0}), std::sqrt(2.0), 1e-12);  // halfway from 1 to 16 channels
  EXPECT_NEAR(grid().at({4, 1e4, 0, 0}), 10 * std::sqrt(2.0), 1e-12);
}

TEST(RateTable, StaysBeyondItsEnds) {
  EXPECT_DOUBLE_EQ(grid().at({0, 1, 0, 0}), 1);
  EXPECT_DOUBLE_EQ(grid().at({1000, 1e12, 0, 0}), 800);
}

TEST(HostRates, FindTakesTheNearestWindowAndType) {
  HostRates rates;
  rates.tables = {flat_table("conv", DType::kF32, 27, 1), flat_table("conv", DType::kF32, 1, 2),
                  flat_table("conv", DType::kBF16, 27, 3), flat_table("conv", DType::kF32, 8, 4)};
  rates.tables.back().window.patch = true;
  EXPECT_EQ(rates.at("conv", DType::kF32, {.taps = 27}).values[0], 1);
  EXPECT_EQ(rates.at("conv", DType::kF32, {.taps = 1}).values[0], 2);
  EXPECT_EQ(rates.at("conv", DType::kF32, {.taps = 9}).values[0], 1) << "a 2-D window is nearer to 27 taps than to 1";
  EXPECT_EQ(rates.at("conv", DType::kBF16, {.taps = 27}).values[0], 3);
  EXPECT_EQ(rates.at("conv", DType::kF64, {.taps = 1}).values[0], 2) << "another type rather than another window";
  EXPECT_EQ(rates.at("conv", DType::kF32, {.taps = 4, .patch = true}).values[0], 4);
  EXPECT_THROW(rates.at("dream", DType::kF32, {}), Error);
}

TEST(HostRates, StoredTypeIsTheNarrowestFloat) {
  const TensorType f32{DType::kF32, {1}}, bf16{DType::kBF16, {1}}, u8{DType::kU8, {1}}, f64{DType::kF64, {1}};
  EXPECT_EQ(stored_type(std::vector{f32, bf16}, f32), DType::kBF16);
  EXPECT_EQ(stored_type(std::vector{u8, f32}, f32), DType::kF32);
  EXPECT_EQ(stored_type(std::vector{f32}, f64), DType::kF32);
  EXPECT_EQ(stored_type(std::vector{f32}, bf16), DType::kBF16);
}

TEST(HostRatesJson, ComesBackAsItWent) {
  HostRates rates = round_rates(3);
  rates.alone_memory = 1.5;
  rates.tables.push_back(grid());
  const auto json = nlohmann::json::parse(to_json(rates).dump());
  const HostRates back = host_rates_from_json(json, "host.json");
  EXPECT_EQ(back.threads, 3);
  EXPECT_DOUBLE_EQ(back.alone_memory, 1.5);
  EXPECT_NEAR(back.barrier_s, kBarrier, 1e-15);
  ASSERT_EQ(back.tables.size(), rates.tables.size());
  EXPECT_EQ(back.tables.back().values, grid().values);
  EXPECT_EQ(back.tables.back().axes[1].points, grid().axes[1].points);
  EXPECT_EQ(to_json(back).dump(), to_json(rates).dump());
}

TEST(HostRatesJson, EveryFigureHasUnitKindAndHow) {
  const auto json = to_json(round_rates(2));
  for (const char* key : {"threads", "memory", "task", "barrier", "alone_compute", "alone_memory"})
    for (const char* part : {"value", "unit", "kind", "how"})
      EXPECT_TRUE(json.at(key).contains(part)) << key << " " << part;
  for (const auto& table : json.at("rates")) {
    EXPECT_EQ(table.at("kind"), "measured");
    for (const char* part : {"unit", "how", "values"}) EXPECT_TRUE(table.contains(part)) << table;
  }
}

TEST(HostRatesJson, IsADeviceOfItsOwnKind) {
  const auto json = nlohmann::json::parse(to_json(round_rates(2)).dump());
  const auto device = device_from_json(json, "host.json", "host");
  EXPECT_EQ(device->name(), "host");
  EXPECT_FALSE(device->emulated() || device->tiled());
  EXPECT_EQ(device->core_bytes(), 0) << "no limit of its own";
  EXPECT_TRUE(device->slices().empty());
  const Program program = cut(conv_graph({1, 8, 8, 4}, 3), {1, 2, 1, 1});
  const StepPrice price = device->price(program, op_table(), {});
  EXPECT_GT(price.step_s, 0);
  EXPECT_DOUBLE_EQ(price.step_s, price_host_step(program, op_table(), round_rates(2), {}).step_s);
  EXPECT_THROW(device_from_json({{"measured_host", true}}, "host.json", "host"), Error);
  EXPECT_THROW(device_from_json({{"measured_host", false}}, "host.json", "host"), Error);
}

void expect_refused(const std::string& piece, const std::function<void(nlohmann::json&)>& damage) {
  auto json = nlohmann::json::parse(to_json(round_rates(2)).dump());
  damage(json);
  try {
    host_rates_from_json(json, "host.json");
    ADD_FAILURE() << "expected an error with \"" << piece << "\"";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::kConfig);
    EXPECT_THAT(e.what(), testing::AllOf(testing::HasSubstr("host.json"), testing::HasSubstr(piece),
                                         testing::HasSubstr("voxshard doctor")));
  }
}

TEST(HostRatesJson, RefusesWhatAPriceCannotBeMadeOf) {
  using Json = nlohmann::json;
  expect_refused("measured_host: should be true", [](Json& j) { j["measured_host"] = false; });
  expect_refused("barrier: is missing", [](Json& j) { j.erase("barrier"); });
  expect_refused("task.unit: should be \"us\"", [](Json& j) { j["task"]["unit"] = "ms"; });
  expect_refused("task.value: should be above 0", [](Json& j) { j["task"]["value"] = 0; });
  expect_refused("threads.value: should be a number", [](Json& j) { j["threads"]["value"] = "two"; });
  for (const double threads : {0.25, 1e12})
    expect_refused("threads.value: should be from 1 to 65536", [&](Json& j) { j["threads"]["value"] = threads; });
  expect_refused("memory.value: should be from 1 to", [](Json& j) { j["memory"]["value"] = 1e300; });
  expect_refused("cpu: is missing", [](Json& j) { j.erase("cpu"); });
  expect_refused("instruction_set: is missing", [](Json& j) { j.erase("instruction_set"); });
  expect_refused("rates[0].kernel: is missing", [](Json& j) { j["rates"][0].erase("kernel"); });
  expect_refused("format: has the format \"voxshard 1\"", [](Json& j) { j["format"] = "voxshard 1"; });
  expect_refused("format: names no format", [](Json& j) { j.erase("format"); });
  expect_refused("rates: should be a list", [](Json& j) { j["rates"] = Json::object(); });
  expect_refused("rates[0].stored", [](Json& j) { j["rates"][0]["stored"] = "f16"; });
  expect_refused("rates[0].unit", [](Json& j) {
    j["rates"][0]["unit"] = "byte/s";
    j["rates"][0]["taps"] = 27;
    j["rates"][0]["unit"] = "bytes";
  });
  expect_refused("rates[0].values: should be 1 numbers, got 2", [](Json& j) { j["rates"][0]["values"] = {1, 2}; });
  expect_refused("rates[0].values: should be above 0", [](Json& j) { j["rates"][0]["values"] = {-1}; });
  expect_refused("rates[0].axes.row: is missing", [](Json& j) {
    j["rates"][0]["axes"].erase("row");
    j["rates"][0]["axes"]["line"] = {1};
  });
  expect_refused("should ascend", [](Json& j) {
    j["rates"][0]["axes"]["row"] = {2, 1};
    j["rates"][0]["values"] = {1, 1};
  });
  expect_refused("has no \"exchange\"", [](Json& j) {
    Json kept = Json::array();
    for (const auto& table : j["rates"])
      if (table["op"] != "exchange") kept.push_back(table);
    j["rates"] = kept;
  });
}

}  // namespace
}  // namespace voxshard
