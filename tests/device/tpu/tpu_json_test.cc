// Device files: the contents of the built-in ones, the arithmetic of the published figures, and each refusal of a wrong
// file.
#include <functional>

#include "tests/device/tpu/tpu_scene.h"

namespace voxshard {
namespace {

using namespace test;

TEST(DeviceFile, V3HasTheDocumentedPeakMemoryAndRates) {
  const TpuSpec v3 = tpu("tpu-v3");
  EXPECT_EQ(v3.name, "tpu-v3");
  EXPECT_NEAR(v3.peak_flops_s(), 61.6e12, 0.01e12);  // of a core; 123 TF/s per chip
  EXPECT_NEAR(2 * v3.peak_flops_s(), 123.2e12, 0.1e12);
  EXPECT_EQ(v3.core_bytes, std::int64_t{16} << 30);
  EXPECT_EQ(v3.usable_bytes(), (std::int64_t{16} << 30) - (std::int64_t{528} << 20));
  EXPECT_DOUBLE_EQ(2 * v3.memory_bytes_s, 900e9);
  EXPECT_NEAR(v3.vector_flops_s, 1.93e12, 0.01e12);
  EXPECT_NEAR(1024 * 4 * v3.link_bytes_s, 340e12, 5e12);  // the documented all-reduce rate of a pod
}

TEST(DeviceFile, V2HasHalfTheUnitsAndMemory) {
  const TpuSpec v2 = tpu("tpu-v2");
  EXPECT_NEAR(2 * v2.peak_flops_s(), 45.9e12, 0.05e12);
  EXPECT_EQ(v2.core_bytes, std::int64_t{8} << 30);
  EXPECT_DOUBLE_EQ(2 * v2.memory_bytes_s, 700e9);
}

TEST(DeviceFile, LargerSlicesFollowByRuleUpToThePodThatWrapsRound) {
  const TpuSpec v3 = tpu("tpu-v3");
  EXPECT_EQ(v3.slice_names(), "8, 32, 64, 128, 256, 512, 1024, 2048");
  EXPECT_EQ(tpu("tpu-v2").slice_names(), "8, 32, 64, 128, 256, 512, 1024");
  EXPECT_EQ(v3.slice(256)->chips_x, 16);
  EXPECT_EQ(v3.slice(256)->chips_y, 8);
  EXPECT_FALSE(v3.slice(256)->wrap_x);
  EXPECT_TRUE(v3.slice(1024)->wrap_x);  // 32 x 16 chips: as long as the pod along x only
  EXPECT_FALSE(v3.slice(1024)->wrap_y);
  EXPECT_TRUE(v3.slice(2048)->wrap_x && v3.slice(2048)->wrap_y);
  EXPECT_EQ(v3.slice(16), nullptr);
  EXPECT_EQ(v3.slice(4096), nullptr);
}

TEST(DeviceFile, EveryFigureSaysWhereItComesFrom) {
  for (const char* name : {"tpu-v2", "tpu-v3"}) {
    const TpuSpec device = tpu(name);
    EXPECT_EQ(device.figures.size(), 23u);
    for (const Figure& figure : device.figures) {
      const bool fitted = figure.kind == "fitted";
      EXPECT_EQ(figure.source.empty(), fitted) << figure.key;
      EXPECT_EQ(figure.mechanism.empty() || figure.fitted_to.empty(), !fitted) << figure.key;
    }
  }
}

TEST(DeviceFile, AFigureThatIsLeftOutChangesNothing) {
  Json json = toy_json();
  for (const char* key : {"strip_rows", "pass_rate", "fused_tensors"}) json["core"].erase(key);
  const TpuSpec own = tpu_from_json(json, "own.json", "own");
  EXPECT_EQ(own.strip_rows, 0);
  EXPECT_EQ(own.pass_bytes_s, own.memory_bytes_s);
  EXPECT_EQ(own.fused_tensors, 2);
  EXPECT_EQ(own.figures.size(), toy_device().figures.size() - 3);
}

struct Refusal {
  std::string piece;
  std::function<void(Json&)> damage;
};

TEST(DeviceFile, WhatIsWrongIsRefusedWithFileAndKey) {
  const std::vector<Refusal> refusals = {
      {"toy.json: the file: the key \"core\" is missing", [](Json& j) { j.erase("core"); }},
      {"toy.json: the file: the key \"colour\" is not known", [](Json& j) { j["colour"] = 1; }},
      {"the file: should be an object", [](Json& j) { j = Json::array(); }},
      {"core: the key \"clock\" is missing", [](Json& j) { j["core"].erase("clock"); }},
      {"host: the key \"cores\" is not known", [](Json& j) { j["host"]["cores"] = j["chip"]["cores"]; }},
      {"chip: should be an object", [](Json& j) { j["chip"] = 3; }},
      {"core.clock: should be an object", [](Json& j) { j["core"]["clock"] = 940; }},
      {"core.clock: the unit is \"GHz\"; expected \"MHz\"", [](Json& j) { j["core"]["clock"]["unit"] = "GHz"; }},
      {"core.clock: the value should be positive, got 0", [](Json& j) { j["core"]["clock"]["value"] = 0; }},
      {"core.clock: the value should be positive, got -1", [](Json& j) { j["core"]["clock"]["value"] = -1; }},
      {"core.clock: the value should be a number", [](Json& j) { j["core"]["clock"]["value"] = "940"; }},
      {"core.clock: the key \"source\" is missing", [](Json& j) { j["core"]["clock"].erase("source"); }},
      {"core.clock: the key \"kind\" is missing", [](Json& j) { j["core"]["clock"].erase("kind"); }},
      {"core.clock: \"source\" should be a text", [](Json& j) { j["core"]["clock"]["source"] = ""; }},
      {"core.clock: the kind \"guessed\" is not known", [](Json& j) { j["core"]["clock"]["kind"] = "guessed"; }},
      {"core.clock: the key \"note\" is not known", [](Json& j) { j["core"]["clock"]["note"] = "x"; }},
      {"core.matrix_units: the value should be a whole number",
       [](Json& j) { j["core"]["matrix_units"]["value"] = 1.5; }},
      {"core.reserved: is not less than core.memory", [](Json& j) { j["core"]["reserved"]["value"] = 4096; }},
      {"chip.links: only 2-D tori", [](Json& j) { j["chip"]["links"]["value"] = 6; }},
      {"core.pass_rate: the key \"mechanism\" is missing", [](Json& j) { j["core"]["pass_rate"].erase("mechanism"); }},
      {"core.pass_rate: the key \"fitted_to\" is missing", [](Json& j) { j["core"]["pass_rate"].erase("fitted_to"); }},
      {"core.pass_rate: \"fitted_to\" should be a list",
       [](Json& j) { j["core"]["pass_rate"]["fitted_to"] = Json::array(); }},
      {"core.pass_rate: the key \"source\" is not known", [](Json& j) { j["core"]["pass_rate"]["source"] = "x"; }},
      {"slices: should be a list", [](Json& j) { j["slices"] = Json::array(); }},
      {"slices[1]: the key \"wrap_x\" is missing", [](Json& j) { j["slices"][1].erase("wrap_x"); }},
      {"slices[1]: \"wrap_x\" should be true or false", [](Json& j) { j["slices"][1]["wrap_x"] = 1; }},
      {"slices[1]: \"chips_x\" should be a positive whole number", [](Json& j) { j["slices"][1]["chips_x"] = 0; }},
      {"slices[1]: \"cores\" is 33, but 4 x 4 chips of 2 cores are 32", [](Json& j) { j["slices"][1]["cores"] = 33; }},
      {"slices[1]: slices should be listed from small to large", [](Json& j) { j["slices"][1] = j["slices"][0]; }},
      {"slices[3]: the slice is larger than the pod", [](Json& j) { j["pod"]["chips_y"]["value"] = 4; }}};
  for (const Refusal& refusal : refusals) {
    Json json = toy_json();
    EXPECT_NO_THROW(tpu_from_json(json, "toy.json", "toy"));
    refusal.damage(json);
    expect_config_error("[device] toy.json: ", [&] { tpu_from_json(json, "toy.json", "toy"); });
    expect_config_error(refusal.piece, [&] { tpu_from_json(json, "toy.json", "toy"); });
  }
}

}  // namespace
}  // namespace voxshard
