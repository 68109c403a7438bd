#include <algorithm>
#include <atomic>
#include <set>

#include "io/datasets/dataset.h"
#include "io/files/content_hash.h"
#include "io/files/output_folder.h"
#include "libcore/base/parallel.h"
#include "pipelines/records/ct_record.h"
#include "pipelines/records/from_records.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

/// Of a file: what became of it.
struct Made {
  std::vector<Case> cases;
  int classes = 0;
  std::vector<CaseFailure> failures;
};

/// "instance-3-0" of a file's first record, "instance-3-0_record2" of its second.
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

  Made convert(const RecordInput& input, std::int64_t most_bytes) {
    Made made;
    std::set<std::string> files;
    for_each_record(input, most_bytes, made.failures, [&](std::int64_t number, const TfExample& example) {
      const std::string id = case_id(input, number);
      if (number > 1 && ids_.contains(id))
        throw Error(ErrorKind::kInput, "E_DUPLICATE", "would be named as another file's; rename one");
      const CtSample sample = ct_sample(example, {.shape = request_.shape});
      const bool trains = sample.label.has_value();
      Case item{.id = id, .images = {fs::path(trains ? "imagesTr" : "imagesTs") / (id + "_0000.nii.gz")}, .label = {}};
      files.insert(item.images[0].string());
      if (trains) files.insert((item.label = fs::path("labelsTr") / (id + ".nii.gz"))->string());
      folder_.begin(input.id, files);
      write_volume(request_.output / item.images[0], sample.image, DiskType::kF32);
      if (trains)
        write_volume(request_.output / *item.label, *sample.label,
                     sample.classes <= 256 ? DiskType::kU8 : DiskType::kU16);
      made.classes = std::max(made.classes, sample.classes);
      made.cases.push_back(std::move(item));
    });
    if (!made.cases.empty()) folder_.commit(input.id, "");
    return made;
  }

 private:
  const ConvertRequest& request_;
  OutputFolder folder_;
  std::set<std::string> ids_;
};

/// Bytes of the largest first record.
std::int64_t largest(const std::vector<RecordInput>& inputs) {
  std::int64_t bytes = 0;
  std::vector<CaseFailure> ignored;
  for (const RecordInput& input : inputs)
    in_case_boundary(input.id, ignored, [&] { bytes = std::max(bytes, first_record_bytes(input.file)); });
  return bytes;
}

}  // namespace

TaskReport volumes_from_records(const ConvertRequest& request, const std::vector<RecordInput>& inputs,
                                std::vector<CaseFailure> failures, Progress& progress) {
  Conversion conversion(request, inputs);
  std::set<std::string> parts = {"dataset.json"};
  for (const RecordInput& input : inputs) parts.insert(input.id);
  conversion.folder().start({.options = content_hash("volumes " + to_string(request.shape)), .parts = parts});
  for (const char* part : {"imagesTr", "labelsTr", "imagesTs"}) make_output_folder(request.output / part);
  const auto total = static_cast<std::int64_t>(inputs.size());
  std::vector<Made> made(inputs.size());
  std::atomic<std::int64_t> done{0};
  constexpr std::int64_t kTimes = 4;  // the record, what is parsed of it, and the volumes as they are and as they are written
  WorkerPool pool(side_by_side(largest(inputs), kTimes, request.threads));
  progress.update("records", 0, total, "");
  pool.run(total, [&](std::int64_t i, int) {
    throw_if_stopped(progress);
    const RecordInput& input = inputs[static_cast<std::size_t>(i)];
    made[static_cast<std::size_t>(i)] = conversion.convert(input, kMostRecordBytes);
    progress.update("records", ++done, total, input.id);
  });

  Dataset dataset{.name = request.input.filename().string(),
                  .folder = request.output,
                  .channels = {"CT"},
                  .label_names = {"background"},
                  .training = {},
                  .test = {},
                  .problems = {},
                  .kind = "nnU-Net v2"};
  std::size_t classes = 2;
  for (Made& one : made) {
    classes = std::max(classes, static_cast<std::size_t>(one.classes));
    for (Case& item : one.cases) (item.label ? dataset.training : dataset.test).push_back(std::move(item));
    for (CaseFailure& failure : one.failures) failures.push_back(std::move(failure));
  }
  for (std::size_t c = 1; c < classes; ++c) dataset.label_names.push_back("class_" + std::to_string(c));
  const auto converted = static_cast<std::int64_t>(dataset.training.size() + dataset.test.size());
  for (const CaseFailure& failure : failures) progress.warn(failure.message);
  if (converted > 0) {
    conversion.folder().begin("dataset.json", {"dataset.json"});
    write_dataset_json(dataset);  // last: a folder with dataset.json is complete
    conversion.folder().commit("dataset.json", "");
  }
  return convert_report(request, converted, "volumes", failures,
                        {"prepare", request.output.string(), "{output}", "work"});
}

}  // namespace voxshard
