// Readers of TFRecord files: the framing of records, and the contents of those whose framing is whole.
#include <cstring>

#include "io/image/image.h"
#include "io/records/crc32c.h"
#include "pipelines/records/ct_record.h"
#include "pipelines/records/image_record.h"
#include "pipelines/records/record_input.h"
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
          {"tf_example", example_seeds, example}};
}

}  // namespace voxshard
