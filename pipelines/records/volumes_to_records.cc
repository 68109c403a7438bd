#include <algorithm>
#include <atomic>
#include <set>

#include "io/datasets/dataset.h"
#include "io/files/content_hash.h"
#include "io/files/file_name.h"
#include "io/output/output_folder.h"
#include "libcore/base/parallel.h"
#include "pipelines/records/ct_record.h"
#include "pipelines/records/from_records.h"
#include "pipelines/records/to_records.h"
#include "pipelines/tasks/segmentation/dataset/prepared_dataset.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

struct Source {
  std::string id;
  fs::path image, label;
};

struct Sources {
  std::vector<Source> cases;
  int classes = 0;
  std::vector<fs::path> inputs;
};

/// Returns why a case of several channels is left out.
CaseFailure too_many_channels(const std::string& id, std::size_t channels) {
  return {id, "E_SHAPE",
          "[convert] " + id + " has " + std::to_string(channels) +
              " channels; a record of the reference has one: keep one channel in dataset.json"};
}

Sources prepared_sources(const fs::path& work, std::vector<CaseFailure>& failures) {
  const PreparedDataset prepared = read_prepared(work);
  Sources sources{.cases = {}, .classes = prepared.plan.classes(), .inputs = {work}};
  for (const PreparedCase& item : prepared.cases)
    if (item.images.size() == 1)
      sources.cases.push_back({item.id, item.images.front(), item.label});
    else
      failures.push_back(too_many_channels(item.id, item.images.size()));
  return sources;
}

Sources dataset_sources(const fs::path& folder, std::vector<CaseFailure>& failures) {
  const Dataset dataset = read_dataset(folder);
  Sources sources{.cases = {}, .classes = static_cast<int>(dataset.label_names.size()), .inputs = {folder}};
  for (const CaseProblem& problem : dataset.problems) failures.push_back({problem.id, problem.code, problem.reason});
  for (const Case& item : dataset.training) {
    if (item.images.size() == 1 && dataset.channels.size() <= 1)
      sources.cases.push_back({item.id, item.images[0], item.label.value_or("")});
    else
      failures.push_back(too_many_channels(item.id, std::max(item.images.size(), dataset.channels.size())));
    for (const fs::path& image : item.images) sources.inputs.push_back(image);
  }
  return sources;
}

/// Returns the bytes of the largest volume as f32.
std::int64_t largest(const std::vector<Source>& cases) {
  std::int64_t bytes = 0;
  std::vector<CaseFailure> ignored;
  for (const Source& item : cases)
    in_case_boundary(item.id, ignored,
                     [&] { bytes = std::max(bytes, 4 * voxels_of(read_volume_info(item.image).geometry)); });
  return bytes;
}

void write_case(const Source& item, const CtLabels& labels, const fs::path& file, bool compressed) {
  std::string record;
  {
    const Volume image = read_image(item.image), label = read_label(item.label);
    try {
      record = serialized(ct_example(image, label, labels));
    } catch (Error& e) {
      e.add_context("[input] " + item.label.string());
      throw;
    }
  }
  RecordWriter writer(file, compressed ? RecordCompression::kGzip : RecordCompression::kNone);
  writer.write(record);
  writer.commit();
}

}  // namespace

TaskReport volumes_to_records(const ConvertRequest& request, Progress& progress) {
  std::vector<CaseFailure> failures;
  const bool prepared = fs::exists(request.input / "plans.json") && fs::is_directory(request.input / "images");
  const Sources sources =
      prepared ? prepared_sources(request.input, failures) : dataset_sources(request.input, failures);
  OutputFolder folder({.folder = request.output, .command = "convert", .inputs = sources.inputs});
  std::set<std::string> parts;
  for (const Source& item : sources.cases) parts.insert(item.id);
  const CtLabels labels{.classes = sources.classes, .one_hot = request.one_hot};
  folder.start({.options = content_hash("ct " + std::to_string(labels.classes) + (labels.one_hot ? "h" : "i") +
                                        (request.compressed ? "z" : "p")),
                .parts = parts});
  const auto total = static_cast<std::int64_t>(sources.cases.size());
  std::vector<std::vector<CaseFailure>> failed(sources.cases.size());
  std::atomic<std::int64_t> done{0}, converted{0};
  // volumes, label, example, message and record
  const std::int64_t times = 4 + 3 * (labels.one_hot ? labels.classes : 1);
  WorkerPool pool(side_by_side(largest(sources.cases), times, request.threads).workers);
  progress.update("cases", 0, total, "");
  pool.run(total, [&](std::int64_t i, int) {
    throw_if_stopped(progress);
    const Source& item = sources.cases[i];
    if (in_case_boundary(item.id, failed[i], [&] {
          if (item.label.empty()) throw Error(ErrorKind::kInput, "E_MISSING", "[convert] " + item.id + " has no label");
          const std::string name = "instance-" + item.id + "-0.tfrecords";
          folder.begin(item.id, {name});
          write_case(item, labels, named_file(request.output, name), request.compressed);
          folder.commit(item.id, "");
        }))
      ++converted;
    else
      folder.drop(item.id);
    progress.update("cases", ++done, total, item.id);
  });
  for (auto& list : failed)
    for (CaseFailure& failure : list) failures.push_back(std::move(failure));
  return convert_report(request, converted, "records", failures, {}, progress);
}

TaskReport convert_to_records(const ConvertRequest& request, Progress& progress) {
  const bool volumes = fs::is_directory(request.input) &&
                       (fs::exists(request.input / "dataset.json") || fs::exists(request.input / "plans.json"));
  return volumes ? volumes_to_records(request, progress) : images_to_records(request, progress);
}

}  // namespace voxshard
