#include <algorithm>
#include <atomic>
#include <cstdio>
#include <set>

#include "io/files/content_hash.h"
#include "io/files/file_name.h"
#include "io/image/image.h"
#include "io/image/image_reader.h"
#include "io/output/output_folder.h"
#include "libcore/base/parallel.h"
#include "pipelines/records/from_records.h"
#include "pipelines/records/image_record.h"
#include "pipelines/records/to_records.h"
#include "pipelines/tasks/detection/dataset/detection_dataset.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

/// Returns the encoded image for a record: the file's own bytes for an upright PNG or JPEG; frames, other formats and
/// rotated images are encoded as PNG.
std::string encoded_image(const fs::path& file, const ImageReader& reader) {
  if (!image_address(file).frame) {
    std::string bytes = read_image_bytes(file);
    const ImageHeader header = parse_image_header(bytes, file);
    if (header.format != ImageFormat::kTiff && header.orientation == 1) return bytes;
  }
  return encoded_rgb(reader.read(file), ".png");
}

/// "instances_train-00000-of-00002.tfrecord"
std::string file_name(const std::string& stem, std::int64_t index, int files) {
  char shard[64];
  std::snprintf(shard, sizeof shard, "-%05lld-of-%05d.tfrecord", static_cast<long long>(index), files);
  return stem + shard;
}

}  // namespace

TaskReport images_to_records(const ConvertRequest& request, Progress& progress) {
  const DetectionDataset dataset = read_detection_dataset(request.input);
  std::vector<CaseFailure> failures = note_failures(dataset.notes);
  std::string stem = request.input.stem().string();
  if (!name_problem(stem, kMostNameBytes - 40).empty()) stem = "pictures";
  std::vector<fs::path> inputs = {request.input};
  for (const DetectionImage& image : dataset.images) inputs.push_back(image_address(image.file).file);
  load_codecs();  // without them no picture can be converted: that is not for each of them to say
  OutputFolder folder({.folder = request.output, .command = "convert", .inputs = inputs});
  const int files =
      static_cast<int>(std::min<std::size_t>(static_cast<std::size_t>(request.files), dataset.images.size()));
  std::set<std::string> parts;
  for (int f = 0; f < files; ++f) parts.insert(file_name(stem, f, files));
  folder.start({.options = content_hash("boxes " + std::to_string(files)), .parts = parts});
  const auto total = static_cast<std::int64_t>(dataset.images.size());
  std::vector<std::vector<CaseFailure>> failed(static_cast<std::size_t>(files));
  std::atomic<std::int64_t> done{0}, converted{0};
  const ImageReader reader;
  WorkerPool pool(request.threads);
  progress.update("pictures", 0, total, "");
  pool.run(files, [&](std::int64_t f, int) {
    const std::string name = file_name(stem, f, files);
    folder.begin(name, {name});
    RecordWriter writer(named_path(request.output, name), RecordCompression::kNone);
    std::int64_t written = 0;
    for (std::int64_t i = f; i < total; i += files) {  // round robin: each file has images from all parts of the set
      throw_if_stopped(progress);
      const DetectionImage& image = dataset.images[i];
      const std::string id = image.file.filename().string();
      written += in_case_boundary(id, failed[f], [&] {
        writer.write(serialized(image_example(encoded_image(image.file, reader), image, dataset.classes)));
      });
      progress.update("pictures", ++done, total, id);
    }
    if (written > 0) {
      writer.commit();
      folder.commit(name, "");
    } else {
      folder.drop(name);
    }
    converted += written;
  });
  for (auto& list : failed)
    for (CaseFailure& failure : list) failures.push_back(std::move(failure));
  return convert_report(request, converted, "records", failures, {}, progress);
}

}  // namespace voxshard
