#include <algorithm>
#include <atomic>
#include <cstdio>
#include <set>

#include "io/boxes/coco.h"
#include "io/files/atomic_file.h"
#include "io/files/content_hash.h"
#include "io/files/output_folder.h"
#include "libcore/base/parallel.h"
#include "pipelines/records/from_records.h"
#include "pipelines/records/picture_record.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

struct Made {
  std::vector<DetectionImage> images;  // ids of source_id, or -1
  std::map<std::int64_t, std::string> names;
  std::vector<CaseFailure> failures;
};

/// "train-00000-of-00002_000017.jpg"
std::string picture_name(const RecordInput& input, std::int64_t record, const char* ending) {
  char number[32];
  std::snprintf(number, sizeof number, "_%06lld", static_cast<long long>(record));
  return input.id + number + ending;
}

Made convert(const RecordInput& input, const fs::path& output, OutputFolder& folder) {
  Made made;
  std::set<std::string> files;
  for_each_record(input, kMostRecordBytes, made.failures, [&](std::int64_t number, const TfExample& example) {
    RecordPicture picture = record_picture(example);
    const std::string name = picture_name(input, number, picture.ending);
    files.insert("images/" + name);
    folder.begin(input.id, files);
    write_text_atomically(output / "images" / name, picture.encoded);
    made.images.push_back({.file = name,
                           .id = picture.source_id.value_or(-1),
                           .width = picture.width,
                           .height = picture.height,
                           .boxes = std::move(picture.boxes)});
    made.names.merge(picture.names);
    for (const EntryNote& note : picture.notes)
      made.failures.push_back({input.file.filename().string() + " record " + std::to_string(number) + " " + note.entry,
                               note.code, note.message});
  });
  if (!made.images.empty()) folder.commit(input.id, "");
  return made;
}

/// The ids of the records when each has one of its own; else 1, 2, ...
void give_ids(std::vector<DetectionImage>& images) {
  std::set<std::int64_t> ids;
  for (const DetectionImage& image : images) ids.insert(image.id);
  if (ids.size() == images.size() && !ids.contains(-1)) return;
  for (std::size_t i = 0; i < images.size(); ++i) images[i].id = static_cast<std::int64_t>(i) + 1;
}

}  // namespace

TaskReport pictures_from_records(const ConvertRequest& request, const std::vector<RecordInput>& inputs,
                                 std::vector<CaseFailure> failures, Progress& progress) {
  OutputFolder folder({.folder = request.output, .command = "convert", .inputs = {request.input}});
  std::set<std::string> parts = {"annotations.json"};
  for (const RecordInput& input : inputs) parts.insert(input.id);
  folder.start({.options = content_hash("pictures"), .parts = parts});
  make_output_folder(request.output / "images");
  const auto total = static_cast<std::int64_t>(inputs.size());
  std::vector<Made> made(inputs.size());
  std::atomic<std::int64_t> done{0};
  WorkerPool pool(request.threads);
  progress.update("records", 0, total, "");
  pool.run(total, [&](std::int64_t i, int) {
    throw_if_stopped(progress);
    made[static_cast<std::size_t>(i)] = convert(inputs[static_cast<std::size_t>(i)], request.output, folder);
    progress.update("records", ++done, total, inputs[static_cast<std::size_t>(i)].id);
  });

  DetectionDataset dataset{.source = request.output, .classes = {}, .images = {}, .notes = {}};
  std::map<std::int64_t, std::string> names;
  for (Made& one : made) {
    names.merge(one.names);
    for (DetectionImage& image : one.images) dataset.images.push_back(std::move(image));
    for (CaseFailure& failure : one.failures) failures.push_back(std::move(failure));
  }
  for (const DetectionImage& image : dataset.images)
    for (const TrueBox& box : image.boxes) names.emplace(box.category, "class_" + std::to_string(box.category));
  std::map<std::int64_t, std::int64_t> index_of;
  for (const auto& [id, name] : names) {
    index_of[id] = static_cast<std::int64_t>(dataset.classes.size());
    dataset.classes.push_back({.name = name, .id = id});
  }
  give_ids(dataset.images);
  for (DetectionImage& image : dataset.images)
    for (TrueBox& box : image.boxes) box.category = index_of.at(box.category);
  for (const CaseFailure& failure : failures) progress.warn(failure.message);
  const auto converted = static_cast<std::int64_t>(dataset.images.size());
  const fs::path annotations = request.output / "annotations.json";
  if (converted > 0) {
    folder.begin("annotations.json", {"annotations.json"});
    write_coco(annotations, dataset);  // last: a folder with annotations is complete
    folder.commit("annotations.json", "");
  }
  return convert_report(request, converted, "pictures", failures,
                        {"train", request.output.string(), "{output}", "run", "{model}", "retinanet"});
}

}  // namespace voxshard
