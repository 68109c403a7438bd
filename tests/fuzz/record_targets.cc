// Readers of files of records: TFRecord's framing, the contents of those whose framing is whole, and the lines in which
// predict keeps what it found.
#include <cstring>
#include <nlohmann/json.hpp>

#include "io/files/structured_text.h"
#include "io/image/image.h"
#include "io/records/crc32c.h"
#include "pipelines/engine/predicted_file.h"
#include "pipelines/model_runs/report.h"
#include "pipelines/records/ct_record.h"
#include "pipelines/records/image_record.h"
#include "pipelines/records/record_input.h"
#include "pipelines/tasks/detection/kept_objects.h"
#include "pipelines/tasks/time_lines/time_line_files.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/scratch_folder.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using Seeds = std::vector<std::string>;

void read_sample(const TfExample& example) {
  if (example.has(kCtImage))
    ct_sample(example);
  else
    record_image(example);
}

/// Reads a file as it is, plain or gzip; a damaged record ends the reading.
void records(std::string_view bytes) {
  const fs::path file = scratch_file("fuzz.tfrecord", bytes);
  ensure(is_record_name(file) && record_stem(file) == "fuzz", "a name of records");
  first_record_bytes(file);
  RecordReader reader(file);
  while (const auto record = reader.next()) read_sample(parse_example(*record));
}

/// Reads a file as a conversion does: a damaged record alone is left out, and the next ones are read.
void records_in_turn(std::string_view bytes) {
  const RecordInput input{scratch_file("fuzz.tfrecord", bytes), "fuzz"};
  std::vector<CaseFailure> failures;
  std::int64_t last = 0;
  const std::int64_t whole = for_each_record(input, side_by_side(0, 4, 1, std::int64_t{1} << 28).limits, failures,
                                             [&](std::int64_t number, const TfExample& example) {
                                               ensure(number > last, "records come in turn");
                                               last = number;
                                               read_sample(example);
                                             });
  ensure(whole > 0 || !failures.empty(), "a file of which nothing is read is a failure");
}

/// The input is the content of a record whose checksums are right.
void example(std::string_view bytes) {
  const TfExample parsed = parse_example(bytes);
  const std::string again = serialized(parsed);
  ensure(serialized(parse_example(again)) == again, "an example that was read is written and read as the same");
  read_sample(parsed);
}

/// What predict found in an image, as it is kept: JSON of objects or of the probabilities of three classes.
void found(std::string_view bytes) {
  const nlohmann::json rows = parse_json(bytes, {});
  if (const auto objects = objects_from_rows(rows, {1, 3})) {
    for (const Detection& d : *objects) ensure(d.class_id >= 1 && d.class_id <= 3, "a class that the detector knows");
    ensure(objects_from_rows(object_rows(*objects), {1, 3}) == objects, "objects are read as they were kept");
  }
  probabilities_from_json(rows, 3);
}
Seeds found_seeds() { return {"[[1,0.75,0.5,1,20,30.25],[3,1e-3,-0.0,0,1,1]]", "[0.25,0.5,0.25]"}; }

/// A file of what predict found, which is mended, added to, and read again.
void found_parts(std::string_view bytes) {
  const fs::path file = scratch_file("made/found.parts.jsonl", bytes);
  PartsFile parts(file, "6f0c");
  std::size_t taken = 0;
  parts.read([&](const std::string&, const nlohmann::json&) { return ++taken % 3 != 0; });
  NoProgress progress;
  parts.mend(progress);
  parts.add("new", nlohmann::json::array({0.5, 0.5}));
  parts.drop_others();
  PartsFile again(file, "6f0c");
  bool is_new = false;
  again.read([&](const std::string& part, const nlohmann::json&) { return is_new |= part == "new", true; });
  ensure(is_new, "a part that was added is read again");
}
Seeds found_parts_seeds() {
  Seeds seeds;
  for (const char* options : {"6f0c", "other"}) {
    const fs::path file = scratch_file("made/found.parts.jsonl", seeds.empty() ? "" : seeds.back());
    PartsFile parts(file, options);
    for (const std::string& one : found_seeds()) parts.add(options + one.substr(0, 4), nlohmann::json::parse(one));
    seeds.push_back(read_bytes(file));
  }
  seeds.push_back(seeds.front() + "{\"part\": 1}\n" + seeds.front().substr(0, 90));
  return seeds;
}

TfExample volume_example(bool one_hot) {
  Volume image{.geometry = {.size = {2, 2, 2}}, .voxels = Tensor(DType::kF32, {2, 2, 2})};
  Volume label{.geometry = image.geometry, .voxels = Tensor(DType::kI32, {2, 2, 2})};
  label.voxels.as<std::int32_t>()[3] = 2;
  return ct_example(image, label, {.classes = 3, .one_hot = one_hot});
}

TfExample small_image() {
  const fs::path path = scratch_file("seed.png", "");
  fs::remove(path);
  write_rgb(path, Tensor(DType::kU8, {4, 6, 3}));
  return image_example(
      read_bytes(path),
      {.file = "a", .id = 7, .width = 6, .height = 4, .boxes = {{.category = 0, .box = {1, 1, 2, 2}, .area = 4}}},
      {{"cell", 3}});
}

Seeds example_seeds() {
  return {serialized(volume_example(true)), serialized(volume_example(false)), serialized(small_image())};
}

Seeds record_seeds() {
  Seeds seeds;
  for (const auto compression : {RecordCompression::kNone, RecordCompression::kGzip}) {
    const fs::path path = scratch_file("seed.tfrecord", "");
    RecordWriter writer(path, compression);
    for (const std::string& record : example_seeds()) writer.write(record);
    writer.commit();
    seeds.push_back(read_bytes(path));
  }
  return seeds;
}

}  // namespace

std::vector<FuzzTarget> record_targets() {
  return {{"tfrecord", record_seeds, records},
          {"tfrecord_in_turn", record_seeds, records_in_turn},
          {"tf_example", example_seeds, example},
          {"found", found_seeds, found},
          {"found_parts", found_parts_seeds, found_parts}};
}

}  // namespace voxshard
