// Advice about a device before a run: where the run takes place, and which parts of the cut do not suit the device.
#include "pipelines/profile/device_advice.h"

#include "libcore/lower/lower.h"
#include "libcore/models/unet.h"
#include "libcore/ops/op_table.h"
#include "tests/device/tpu/tpu_scene.h"

namespace voxshard {
namespace {

using testing::Contains;
using testing::HasSubstr;

TEST(RunningOn, NamesDeviceHostsAndReplicas) {
  const Mesh mesh{.replicas = 2, .partition = {1, 16, 1, 1, 1}};
  EXPECT_EQ(running_on(device_from_name("tpu-v3-32"), mesh),
            "Running on tpu-v3-32, emulated on this machine: 32 cores of 4 hosts; Replicas: 2 (16 cores each)");
  EXPECT_EQ(running_on(device_from_name("tpu-v2-8"), {.replicas = 8, .partition = {1, 1, 1, 1, 1}}),
            "Running on tpu-v2-8, emulated on this machine: 8 cores of 1 host; Replicas: 8 (1 core each)");
  EXPECT_EQ(running_on(device_from_name("tpu-v3"), mesh),
            "Running on tpu-v3, emulated on this machine: 32 cores of 4 hosts; Replicas: 2 (16 cores each)");
  EXPECT_EQ(
      running_on({}, {.partition = {1, 2, 1, 1, 1}}),
      "Running on this machine, not measured (voxshard doctor): 1 host, 2 emulated cores; Replicas: 1 (2 cores each)");
  EXPECT_THAT(running_on(device_from_name("tpu-v3-8"), mesh, false), HasSubstr("Replicas: as planned"));
}

/// Returns the step of a small U-Net at 16 x 16 x 16, tiled for a TPU.
Program program_over(const Dims& partition) {
  const UNetConfig config{.base_filters = 4, .depth = 2};
  const Cut cut{.mesh = {.partition = partition}};
  const Graph step =
      step_graph(build_unet(config, {.batch = 1, .size = {16, 16, 16}}, op_table()), op_table(), cut.recompute);
  return lower_to_memory(step, op_table(), cut, {.tiled = true}).program;
}

TEST(DeviceWarnings, AShareTooThinForTheMatrixUnitIsNamed) {
  const TpuDevice device(test::toy_device());
  EXPECT_THAT(device_warnings(program_over({1, 2, 1, 1, 1}), op_table(), device, {}),
              Not(Contains(HasSubstr("too thin"))))
      << "8 x 16 x 16 and 4 x 8 x 8 voxels a core";
  EXPECT_THAT(
      device_warnings(program_over({1, 8, 1, 1, 1}), op_table(), device, {}),
      Contains(testing::AllOf(HasSubstr("too thin for the 128 x 128 matrix unit"), HasSubstr("has 64 rows on a core"))))
      << "1 x 8 x 8 voxels a core below the pooling";
}

TEST(DeviceWarnings, HostsThatAreSlowerThanTheCoresAreNamed) {
  const TpuDevice device(test::toy_device());
  const Program program = program_over({1, 2, 2, 2, 1});
  const auto slow = [](const std::string& text) {
    return text.find("input is slower than the step on toy") != std::string::npos;
  };
  const auto few =
      device_warnings(program, op_table(), device, {.record_bytes = 1, .transfer_bytes = 1, .input_bytes = 1});
  EXPECT_TRUE(std::none_of(few.begin(), few.end(), slow));
  const auto many =
      device_warnings(program, op_table(), device, {.record_bytes = 1e12, .transfer_bytes = 1e12, .input_bytes = 1e12});
  EXPECT_TRUE(std::any_of(many.begin(), many.end(), slow));
}

TEST(DeviceWarnings, ASliceThatThereIsNotHasNoPrice) {
  const TpuDevice device(test::toy_slice(1, 1, false, false));  // two cores
  EXPECT_THAT(device_warnings(program_over({1, 4, 1, 1, 1}), op_table(), device, {}),
              Contains(HasSubstr("the step has no price on toy")));
}

}  // namespace
}  // namespace voxshard
