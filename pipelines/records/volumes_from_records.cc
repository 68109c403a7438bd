#include <algorithm>
#include <atomic>
#include <set>

#include "io/datasets/dataset.h"
#include "io/files/content_hash.h"
#include "io/output/output_folder.h"
#include "libcore/base/parallel.h"
#include "libcore/base/plain_text.h"
#include "pipelines/records/ct_record.h"
#include "pipelines/records/from_records.h"
#include "pipelines/records/record_files.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

/// The results of converting one file.
struct MadeVolumes {
  std::vector<Case> cases;
  int classes = 0;
  std::vector<CaseFailure> failures;
};

/// Returns "instance-3-0" for a file's first record, "instance-3-0_record2" for its second.
std::string case_id(const RecordInput& input, std::int64_t record) {
  return record == 1 ? input.id : input.id + "_record" + std::to_string(record);
}

class Conversion {
 public:
  Conversion(const ConvertRequest& request, const std::vector<RecordInput>& inputs)
      : request_(request), folder_({.folder = request.output, .command = "convert", .inputs = {request.input}}) {
    for (const RecordInput& input : inputs) ids_.insert(input.id);
  }
  OutputFolder& folder() { return folder_; }

  MadeVolumes convert(const RecordInput& input, const RecordLimits& limits) {
    MadeVolumes made;
    RecordFiles files(folder_, input.id, [&](std::int64_t number) { return files_of(input, number); });
    for_each_record(input, limits, made.failures, [&](std::int64_t number, const TfExample& example) {
      const std::string id = case_id(input, number);
      if (is_anothers(input, number))
        throw Error(ErrorKind::kInput, "E_DUPLICATE", "would be named as another file's; rename one");
      const CtSample sample = ct_sample(example, {.shape = request_.shape});
      const bool trains = sample.label.has_value();
      Case item{.id = id, .images = {fs::path(trains ? "imagesTr" : "imagesTs") / (id + "_0000.nii.gz")}, .label = {}};
      if (trains) item.label = fs::path("labelsTr") / (id + ".nii.gz");
      files.begin(number);
      write_volume(request_.output / item.images[0], sample.image, DiskType::kF32);
      if (trains) write_volume(request_.output / *item.label, *sample.label, DiskType::kU8);
      made.classes = std::max(made.classes, sample.classes);
      made.cases.push_back(std::move(item));
    });
    files.commit();
    return made;
  }

 private:
  bool is_anothers(const RecordInput& input, std::int64_t record) const {
    return record > 1 && ids_.contains(case_id(input, record));
  }
  /// Returns all files that may be written for a record.
  std::vector<std::string> files_of(const RecordInput& input, std::int64_t record) const {
    if (is_anothers(input, record)) return {};
    const std::string id = case_id(input, record);
    return {"imagesTr/" + id + "_0000.nii.gz", "labelsTr/" + id + ".nii.gz", "imagesTs/" + id + "_0000.nii.gz"};
  }

  const ConvertRequest& request_;
  OutputFolder folder_;
  std::set<std::string> ids_;
};

}  // namespace

TaskReport volumes_from_records(const ConvertRequest& request, const std::vector<RecordInput>& inputs,
                                std::vector<CaseFailure> failures, Progress& progress) {
  Conversion conversion(request, inputs);
  std::set<std::string> parts = {"dataset.json"};
  for (const RecordInput& input : inputs) parts.insert(input.id);
  conversion.folder().start({.options = content_hash("volumes " + to_string(request.shape)), .parts = parts});
  for (const char* part : {"imagesTr", "labelsTr", "imagesTs"}) make_output_folder(request.output / part);
  const auto total = static_cast<std::int64_t>(inputs.size());
  std::vector<MadeVolumes> made(inputs.size());
  std::atomic<std::int64_t> done{0};
  const RecordShare share = share_of(inputs, kRecordTimes, request.threads);
  WorkerPool pool(share.workers);
  progress.update("records", 0, total, "");
  pool.run(total, [&](std::int64_t i, int) {
    throw_if_stopped(progress);
    const RecordInput& input = inputs[i];
    made[i] = conversion.convert(input, share.limits);
    progress.update("records", ++done, total, input.id);
  });

  Dataset dataset{.name = plain_text(request.input.filename().string()),
                  .folder = request.output,
                  .channels = {"CT"},
                  .label_names = {"background"},
                  .training = {},
                  .test = {},
                  .problems = {},
                  .kind = "nnU-Net v2"};
  std::size_t classes = 2;
  for (MadeVolumes& one : made) {
    classes = std::max(classes, static_cast<std::size_t>(one.classes));
    for (Case& item : one.cases) (item.label ? dataset.training : dataset.test).push_back(std::move(item));
    for (CaseFailure& failure : one.failures) failures.push_back(std::move(failure));
  }
  for (std::size_t c = 1; c < classes; ++c) dataset.label_names.push_back("class_" + std::to_string(c));
  const auto converted = static_cast<std::int64_t>(dataset.training.size() + dataset.test.size());
  if (converted > 0) {
    conversion.folder().begin("dataset.json", {"dataset.json"});
    write_dataset_json(dataset);  // last, so that a folder with dataset.json is complete
    conversion.folder().commit("dataset.json", "");
  }
  return convert_report(request, converted, "volumes", failures,
                        {"prepare", request.output.string(), "{output}", "work"}, progress);
}

}  // namespace voxshard
