#include <algorithm>
#include <atomic>
#include <cstdio>
#include <set>

#include "io/boxes/coco.h"
#include "io/files/atomic_file.h"
#include "io/files/content_hash.h"
#include "io/files/file_name.h"
#include "io/output/output_folder.h"
#include "libcore/base/parallel.h"
#include "pipelines/records/from_records.h"
#include "pipelines/records/image_record.h"
#include "pipelines/records/record_files.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMostImageBytes = std::int64_t{1} << 28;  // largest record: an image with its boxes

struct MadeImages {
  std::vector<DetectionImage> images;  // id: the record's source_id, or -1
  std::map<std::int64_t, std::string> names;
  std::vector<CaseFailure> failures;
};

/// "train-00000-of-00002_000017.jpg"
std::string image_name(const RecordInput& input, std::int64_t record, const char* ending) {
  char number[32];
  std::snprintf(number, sizeof number, "_%06lld", static_cast<long long>(record));
  return input.id + number + ending;
}

MadeImages convert(const RecordInput& input, const RecordLimits& limits, const fs::path& output, OutputFolder& folder) {
  MadeImages made;
  BoundedNotes notes("boxes");
  RecordFiles files(folder, input.id, [&](std::int64_t number) {
    return std::vector<std::string>{"images/" + image_name(input, number, ".png"),
                                    "images/" + image_name(input, number, ".jpg")};
  });
  for_each_record(input, limits, made.failures, [&](std::int64_t number, const TfExample& example) {
    RecordImage decoded = record_image(example);
    const std::string name = image_name(input, number, decoded.ending);
    files.begin(number);
    write_text_atomically(output / "images" / name, decoded.encoded);
    made.images.push_back({.file = name,
                           .id = decoded.source_id.value_or(-1),
                           .width = decoded.width,
                           .height = decoded.height,
                           .boxes = std::move(decoded.boxes)});
    made.names.merge(decoded.names);
    notes.add(decoded.notes, "record " + std::to_string(number) + " ");
  });
  for (const EntryNote& note : notes.all())
    made.failures.push_back({shown_name(input.file.filename().string()) + " " + note.entry, note.code, note.message});
  files.commit();
  return made;
}

/// Keeps the ids of the records when all are unique; else sets 1, 2, ...   Returns the reason when existing ids were
/// replaced.
std::string give_ids(std::vector<DetectionImage>& images) {
  std::map<std::int64_t, std::string> first;  // names by id
  std::string without, twice;
  for (const DetectionImage& image : images) {
    const std::string name = image.file.string();
    if (image.id < 0)
      without = name;
    else if (const auto [at, is_new] = first.emplace(image.id, name); !is_new && twice.empty())
      twice = "images " + at->second + " and " + name + " both have the source_id " + std::to_string(image.id);
  }
  if (without.empty() && twice.empty()) return "";
  for (std::size_t i = 0; i < images.size(); ++i) images[i].id = static_cast<std::int64_t>(i) + 1;
  return twice.empty() && !first.empty() ? "image " + without + " has no source_id that is a whole number" : twice;
}

}  // namespace

TaskReport images_from_records(const ConvertRequest& request, const std::vector<RecordInput>& inputs,
                               std::vector<CaseFailure> failures, Progress& progress) {
  OutputFolder folder({.folder = request.output, .command = "convert", .inputs = {request.input}});
  std::set<std::string> parts = {"annotations.json"};
  for (const RecordInput& input : inputs) parts.insert(input.id);
  folder.start({.options = content_hash("pictures"), .parts = parts});
  make_output_folder(request.output / "images");
  const auto total = static_cast<std::int64_t>(inputs.size());
  std::vector<MadeImages> made(inputs.size());
  std::atomic<std::int64_t> done{0};
  RecordShare share = share_of(inputs, kRecordTimes, request.threads);
  share.limits.most_bytes = kMostImageBytes;
  WorkerPool pool(share.workers);
  progress.update("records", 0, total, "");
  pool.run(total, [&](std::int64_t i, int) {
    throw_if_stopped(progress);
    made[i] = convert(inputs[i], share.limits, request.output, folder);
    progress.update("records", ++done, total, inputs[i].id);
  });

  DetectionDataset dataset{.source = request.output, .classes = {}, .images = {}, .notes = {}};
  std::map<std::int64_t, std::string> names;
  for (MadeImages& one : made) {
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
  if (const std::string why = give_ids(dataset.images); !why.empty())
    progress.warn("[convert] " + why + "; all images are counted 1, 2, ... instead");
  for (DetectionImage& image : dataset.images)
    for (TrueBox& box : image.boxes) box.category = index_of.at(box.category);
  const auto converted = static_cast<std::int64_t>(dataset.images.size());
  const fs::path annotations = request.output / "annotations.json";
  if (converted > 0) {
    folder.begin("annotations.json", {"annotations.json"});
    write_coco(annotations, dataset);  // last, so that a folder with annotations is complete
    folder.commit("annotations.json", "");
  }
  return convert_report(request, converted, "pictures", failures,
                        {"train", request.output.string(), "{output}", "run", "{model}", "retinanet"}, progress);
}

}  // namespace voxshard
