// A watched inbox: a process that keeps its model loaded takes one volume after another, and its memory stays flat.
#include "tests/cli/process.h"
#include "tests/cli/trained_cli.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

class SlowWatch : public TrainedCli {};

/// Returns a number of /proc/PID/status in bytes, such as the peak of its resident memory (VmHWM).
std::int64_t status_bytes(pid_t pid, const std::string& name) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(name + ":")) return std::stoll(line.substr(name.size() + 1)) * 1024;
  ADD_FAILURE() << "process " << pid << " has no " << name;
  return 0;
}

TEST_F(SlowWatch, After200VolumesItsPeakIsThatOfTheFirst20) {
  constexpr int kFirst = 20, kAll = 200;
  constexpr std::int64_t kMeasuredDiffer = std::int64_t{16} << 20;  // by which a peak may differ from a plan
  Folder scene("slow_watch");
  const std::string inbox = scene / "inbox";
  fs::create_directories(inbox);
  const std::vector<std::string> images = {"/imagesTr/phantom_000", "/imagesTr/phantom_001", "/imagesTs/phantom_002"};
  Process service("predict " + run() + " --watch " + inbox + " --done " + (scene / "done") + " -o " + (scene / "out") +
                  " --quiet-for 0");
  std::int64_t first_peak = 0;
  for (int i = 0; i < kAll; ++i) {
    const std::string name = "/case_" + std::to_string(1000 + i) + ".nii.gz";
    fs::copy_file(data() + images[static_cast<std::size_t>(i) % images.size()] + "_0000.nii.gz", scene / name);
    fs::rename(scene / name, inbox + name);  // it appears whole
    const std::string done = std::to_string(i + 1);
    ASSERT_TRUE(service.read_until("predict " + done + "/" + done)) << service.seen();
    if (i + 1 == kFirst) first_peak = status_bytes(service.pid(), "VmHWM");
  }
  const std::int64_t last_peak = status_bytes(service.pid(), "VmHWM");
  std::printf("peak after %d volumes %.1f MiB, after %d %.1f MiB\n", kFirst,
              static_cast<double>(first_peak) / (1 << 20), kAll, static_cast<double>(last_peak) / (1 << 20));
  EXPECT_LE(last_peak, first_peak + kMeasuredDiffer);
  service.send(SIGTERM);
  EXPECT_EQ(service.wait().exit_code, 0);
  EXPECT_TRUE(fs::is_empty(inbox));
  int files = 0;
  for (const auto& entry : fs::directory_iterator(scene / "out")) files += entry.path().extension() == ".gz";
  EXPECT_EQ(files, kAll);
}

}  // namespace
}  // namespace voxshard
