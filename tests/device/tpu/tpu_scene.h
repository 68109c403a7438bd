// A TPU with round numbers, so that prices can be computed by hand, and its JSON for tests that damage it.
//
//   TpuSpec toy = toy_device();         // one unit of 128 x 128 at 1 GHz, 100 GB/s memory, 10 GB/s links, 2 us per hop
//   Json json = toy_json(); json["core"]["clock"]["unit"] = "GHz";
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "libcore/base/error.h"
#include "libcore/device/builtin_devices.h"
#include "libcore/device/tpu/tpu_device.h"
#include "libcore/device/tpu/tpu_json.h"
#include "tests/expect_error.h"

namespace voxshard::test {

using Json = nlohmann::json;

inline Json builtin_json(const std::string& name) {
  for (const BuiltinDevice& device : builtin_devices())
    if (device.name == name) return Json::parse(device.json);
  ADD_FAILURE() << "no device file is built in as " << name;
  return {};
}

inline Json toy_json() {
  Json json = builtin_json("tpu-v3");
  const auto set = [&](const char* section, const char* key, double value) { json[section][key]["value"] = value; };
  set("core", "memory", 4), set("core", "reserved", 1024);
  set("core", "matrix_units", 1), set("core", "clock", 1000), set("core", "vector_rate", 1000);
  set("core", "memory_rate", 100), set("core", "dispatch", 1);
  set("core", "strip_rows", 512), set("core", "pass_rate", 50);
  set("chip", "link_rate", 10), set("chip", "hop_latency", 2), set("chip", "core_path_rate", 50);
  set("host", "unpack_rate", 100), set("host", "transfer_rate", 1), set("host", "network_rate", 2);
  return json;
}

inline TpuSpec toy_device() { return tpu_from_json(toy_json(), "toy.json", "toy"); }
inline TpuSpec tpu(const std::string& name) { return tpu_from_json(builtin_json(name), name + ".json", name); }

/// Returns the toy with one slice of x * y chips; the axes wrap round if `wrap_x`, `wrap_y`.
inline TpuSpec toy_slice(std::int64_t x, std::int64_t y, bool wrap_x, bool wrap_y) {
  Json json = toy_json();
  json["slices"] = Json::array({{{"cores", 2 * x * y},
                                 {"chips_x", x},
                                 {"chips_y", y},
                                 {"wrap_x", wrap_x},
                                 {"wrap_y", wrap_y},
                                 {"kind", "assumed"},
                                 {"source", "test"}}});
  json["pod"]["chips_x"]["value"] = x, json["pod"]["chips_y"]["value"] = y;
  return tpu_from_json(json, "toy.json", "toy");
}

inline StepPrice price_step(const Program& program, const OpTable& ops, const TpuSpec& spec, const Feed& feed) {
  return TpuDevice(spec).price(program, ops, feed);
}

template <class Act>
void expect_config_error(const std::string& piece, Act act) {
  expect_error(ErrorKind::kConfig, piece, [&] { act(); });
}

}  // namespace voxshard::test
