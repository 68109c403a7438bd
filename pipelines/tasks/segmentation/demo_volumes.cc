#include "pipelines/tasks/segmentation/demo_volumes.h"

#include <atomic>

#include "io/datasets/dataset.h"
#include "io/files/content_hash.h"
#include "io/output/output_folder.h"
#include "pipelines/phantoms/phantom.h"

namespace voxshard {

DemoReport demo_volumes(const DemoOptions& options, int subdivide, Progress& progress) {
  const int cases = options.cases.value_or(12), test_cases = options.test_cases.value_or(4);
  OutputFolder folder({.folder = options.folder, .command = "demo", .inputs = {}, .option = ""});
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
  std::set<std::string> parts = {"dataset.json"};
  for (int i = 0; i < total; ++i) {
    const bool test = i >= cases;
    const std::string id = demo_id(i);
    parts.insert(id);
    (test ? dataset.test : dataset.training)
        .push_back({id,
                    {options.folder / (test ? "imagesTs" : "imagesTr") / (id + "_0000.nii.gz")},
                    options.folder / (test ? "labelsTs" : "labelsTr") / (id + ".nii.gz")});
  }

  folder.start({.options = demo_hash(options, cases, test_cases), .parts = parts});
  for (const char* part : {"imagesTr", "labelsTr", "imagesTs", "labelsTs"}) make_output_folder(options.folder / part);
  std::atomic<std::int64_t> voxels{0};
  make_demo_cases(options, total, "phantoms", progress, [&](int i) {
    const Case& item = i < cases ? dataset.training[i] : dataset.test[i - cases];
    const Phantom phantom = make_phantom({.seed = options.seed, .index = i, .subdivide = subdivide});
    folder.begin(item.id, {item.images[0].lexically_relative(options.folder).string(),
                           item.label->lexically_relative(options.folder).string()});
    write_volume(item.images[0], phantom.image, DiskType::kI16);
    write_volume(*item.label, phantom.label, DiskType::kU8);
    folder.commit(item.id, "");
    voxels += phantom.image.voxels.count();
    return item.id;
  });
  folder.begin("dataset.json", {"dataset.json"});
  write_dataset_json(dataset);  // last: a folder with dataset.json is complete
  folder.commit("dataset.json", "");
  return {.cases = cases,
          .test_cases = test_cases,
          .points = voxels,
          .point = "voxels",
          .next = {"prepare", options.folder.string(), "{output}", "work"}};
}

}  // namespace voxshard
