// Names of devices: built in, of the user, this machine.
#include "pipelines/profile/device_files.h"

#include <cstdlib>

#include "libcore/base/cpu.h"
#include "tests/device/host/host_scene.h"
#include "tests/device/tpu/tpu_scene.h"
#include "tests/pipelines/pipeline_scene.h"

namespace voxshard {
namespace {

using namespace test;

/// Sets an environment variable for one test.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    ::setenv(name, value.c_str(), 1);
  }
  ~Variable() {
    if (old_)
      ::setenv(name_, old_->c_str(), 1);
    else
      ::unsetenv(name_);
  }

 private:
  const char* name_;
  std::optional<std::string> old_;
};

TEST(DeviceName, BuiltInDevicesAreTheFilesOfTheFolder) {
  EXPECT_EQ(builtin_device_names(), "tpu-v2, tpu-v3");
  for (const auto& entry : std::filesystem::directory_iterator(VOXSHARD_SOURCE_DIR "/data/devices"))
    EXPECT_EQ(device_from_name(entry.path().stem().string()).device->name(), entry.path().stem());
}

TEST(DeviceName, ASliceIsChosenByItsCores) {
  EXPECT_FALSE(device_from_name("tpu-v3").cores.has_value());
  for (const std::int64_t cores : {8, 32, 64, 128, 256, 2048})
    EXPECT_EQ(device_from_name("tpu-v3-" + std::to_string(cores)).cores, cores);
  EXPECT_EQ(device_from_name("tpu-v2-8").device->tpu()->core_bytes, std::int64_t{8} << 30);
}

TEST(DeviceName, WhatDoesNotExistIsRefusedWithWhatDoes) {
  expect_config_error("\"tpu-v9\" is not known; expected tpu-v2, tpu-v3", [] { device_from_name("tpu-v9"); });
  expect_config_error("is not known", [] { device_from_name(""); });
  expect_config_error("is not known", [] { device_from_name("tpu-v33"); });
  expect_config_error("tpu-v3 has no slice of 16 cores; it has 8, 32, 64, 128", [] { device_from_name("tpu-v3-16"); });
  for (const char* name : {"tpu-v3-", "tpu-v3-8x", "tpu-v3--8", "tpu-v3-0"})
    expect_config_error("has no slice of", [&] { device_from_name(name); });
}

TEST(DeviceName, AFileOfTheUserIsReadAndItsSliceChosen) {
  const Scene scene("device_files");
  const std::string path = scene.path("mine.json").string();
  std::ofstream(path) << toy_json().dump();
  EXPECT_EQ(device_from_name(path).device->name(), "mine");
  EXPECT_FALSE(device_from_name(path).cores.has_value());
  EXPECT_EQ(device_from_name(path + ":32").cores, 32);
  expect_config_error("mine has no slice of 33 cores", [&] { device_from_name(path + ":33"); });
  std::ofstream(path) << "{\"core\": {}}";
  expect_config_error(path + ": the file: the key \"description\" is missing", [&] { device_from_name(path); });
  expect_config_error("cannot be read", [&] { device_from_name(scene.path("absent.json").string()); });
}

TEST(DeviceName, TheHostIsWhereTheEnvironmentSays) {
  const Scene scene("host_device");
  {
    const Variable home("HOME", "/home/a"), config("XDG_CONFIG_HOME", ""), file("VOXSHARD_HOST_DEVICE", "");
    EXPECT_EQ(host_device_path(), "/home/a/.config/voxshard/host.json");
  }
  const Variable config("XDG_CONFIG_HOME", "/etc/xdg"), none("VOXSHARD_HOST_DEVICE", "");
  EXPECT_EQ(host_device_path(), "/etc/xdg/voxshard/host.json");
  const Variable file("VOXSHARD_HOST_DEVICE", scene.path("h.json").string());
  EXPECT_EQ(host_device_path(), scene.path("h.json"));
  expect_config_error("not measured yet", [] { device_from_name("host"); });
  expect_config_error("voxshard doctor", [] { device_from_name("host"); });
  EXPECT_EQ(host_device(2), nullptr);
}

TEST(DeviceName, RatesOfAnotherInstructionSetAreNotOfThisMachine) {
  const Scene scene("host_set");
  const Variable file("VOXSHARD_HOST_DEVICE", scene.path("h.json").string());
  HostRates rates = test::round_rates(2);
  const auto device_of = [&](const std::string& set) {
    rates.instruction_set = set;
    std::ofstream(scene.path("h.json")) << to_json(rates);
    return host_device(2);
  };
  expect_config_error("was measured with mmx, in force is", [&] { device_of("mmx"); });
  expect_config_error("Run voxshard doctor again", [] { device_from_name("host"); });
  EXPECT_FALSE(is_host_measured());
  EXPECT_EQ(found_device("auto").name, "");
  EXPECT_THAT(found_device("auto").note, testing::HasSubstr("was measured with mmx"));
  EXPECT_NE(device_of(instruction_set_name(instruction_set())), nullptr);
}

TEST(DeviceName, TextThatIsNoJsonIsRefused) {
  expect_config_error("toy.json:1: is not valid JSON", [] { device_from_text("{", "toy.json", "toy"); });
  EXPECT_EQ(device_from_text(toy_json().dump(), "toy.json", "toy")->tpu()->clock_hz, 1e9);
}

TEST(DeviceName, AutoTakesWhatIsThereAndSaysWhatIsNot) {
  const Scene scene("device_auto");
  const Variable none("VOXSHARD_HOST_DEVICE", scene.path("h.json").string());
  const std::string mine = scene.path("mine.json").string();
  EXPECT_TRUE(is_auto_device("auto"));
  EXPECT_TRUE(is_auto_device("auto:tpu-v3"));
  EXPECT_FALSE(is_auto_device("automatic.json"));
  EXPECT_FALSE(is_auto_device(""));
  EXPECT_EQ(found_device("auto:tpu-v3-32").name, "tpu-v3-32");
  EXPECT_EQ(found_device("auto:tpu-v3-32").note, "");
  EXPECT_EQ(found_device("auto").name, "") << "not measured";
  EXPECT_THAT(found_device("auto").note, testing::HasSubstr("not measured yet"));
  for (const std::string& absent : {std::string("tpu-v9"), std::string("tpu-v3-16"), mine, mine + ":32"}) {
    const FoundDevice found = found_device("auto:" + absent);
    EXPECT_EQ(found.name, "") << absent;
    EXPECT_THAT(found.note, testing::StartsWith("device " + absent + " is absent, falling back to this machine: "));
  }
  std::ofstream(scene.path("h.json")) << "measured";
  EXPECT_EQ(found_device("auto").name, "host");
  EXPECT_EQ(found_device("auto:tpu-v9").name, "host");
  std::ofstream(mine) << toy_json().dump();
  EXPECT_EQ(found_device("auto:" + mine + ":32").name, mine + ":32");
  std::ofstream(mine) << "{";
  expect_config_error("not valid JSON", [&] { found_device("auto:" + mine); });
}

}  // namespace
}  // namespace voxshard
