#include "pipelines/commands/run_demo.h"

#include <atomic>
#include <chrono>
#include <nlohmann/json.hpp>

#include "io/datasets/dataset.h"
#include "libcore/base/parallel.h"
#include "pipelines/commands/run_demo_detection.h"
#include "pipelines/phantoms/phantom.h"

namespace voxshard {
namespace {

int subdivision(const std::string& size) {
  if (size == "small") return 1;
  if (size == "medium") return 2;
  if (size == "large") return 3;
  throw Error(ErrorKind::kUsage, "[demo] {size} is \"" + size + "\"; expected small, medium or large");
}

DemoReport run_demo_segmentation(const DemoOptions& options, int subdivide, Progress& progress) {
  const int cases = options.cases.value_or(12), test_cases = options.test_cases.value_or(4);
  for (const char* part : {"imagesTr", "labelsTr", "imagesTs", "labelsTs"}) make_output_folder(options.folder / part);

  Dataset dataset{.name = "Phantom CT",
                  .folder = options.folder,
                  .channels = {"CT"},
                  .label_names = phantom_label_names(),
                  .training = {},
                  .test = {},
                  .file_ending = ".nii.gz",
                  .problems = {},
                  .kind = "nnU-Net v2"};
  const int total = cases + test_cases;
  for (int i = 0; i < total; ++i) {
    const bool test = i >= cases;
    const std::string id = demo_id(i);
    (test ? dataset.test : dataset.training)
        .push_back({id,
                    {options.folder / (test ? "imagesTs" : "imagesTr") / (id + "_0000.nii.gz")},
                    options.folder / (test ? "labelsTs" : "labelsTr") / (id + ".nii.gz")});
  }

  std::atomic<int> done{0};
  std::atomic<std::int64_t> voxels{0};
  WorkerPool pool(options.threads);
  pool.run(total, [&](std::int64_t i, int) {
    const Case& item = i < cases ? dataset.training[i] : dataset.test[i - cases];
    const Phantom phantom = make_phantom({.seed = options.seed, .index = static_cast<int>(i), .subdivide = subdivide});
    write_volume(item.images[0], phantom.image, DiskType::kI16);
    write_volume(*item.label, phantom.label, DiskType::kU8);
    voxels += phantom.image.voxels.count();
    progress.update("phantoms", ++done, total, item.id);
  });
  write_dataset_json(dataset);  // last: a folder with dataset.json is complete
  return {.folder = options.folder, .task = options.task, .cases = cases, .test_cases = test_cases, .voxels = voxels};
}

}  // namespace

std::string demo_id(int index) {
  const std::string digits = std::to_string(index);
  return "phantom_" + std::string(digits.size() < 3 ? 3 - digits.size() : 0, '0') + digits;
}

DemoReport run_demo(const DemoOptions& options, Progress& progress) {
  if (options.task != "segmentation" && options.task != "detection")
    throw Error(ErrorKind::kUsage, "[demo] {task} is \"" + options.task + "\"; expected segmentation or detection");
  const int cases = options.cases.value_or(1), test_cases = options.test_cases.value_or(0);
  if (cases < 1 || cases > 10000 || test_cases < 0 || test_cases > 10000)
    throw Error(ErrorKind::kUsage, "[demo] {cases} must be 1 to 10000 and {test} 0 to 10000");
  const int times = subdivision(options.size);
  const auto start = std::chrono::steady_clock::now();
  DemoReport report = options.task == "detection" ? run_demo_detection(options, times, progress)
                                                  : run_demo_segmentation(options, times, progress);
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

nlohmann::ordered_json to_json(const DemoReport& report) {
  return {{"folder", report.folder.string()},
          {"task", report.task},
          {"cases", report.cases},
          {"test_cases", report.test_cases},
          {report.task == "detection" ? "pixels" : "voxels", report.voxels},
          {"seconds", report.seconds}};
}

}  // namespace voxshard
