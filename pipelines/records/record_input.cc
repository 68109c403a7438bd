#include "pipelines/records/record_input.h"

#include <algorithm>
#include <optional>
#include <set>

#include "io/boxes/detection_annotations.h"
#include "io/files/file_error.h"
#include "io/files/file_name.h"
#include "io/system/process_memory.h"
#include "io/volume/volume_limits.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files_of(const fs::path& path) {
  std::error_code error;
  if (!fs::exists(path, error)) throw input_error(path, "does not exist", "check the path");
  if (!fs::is_directory(path, error)) return {path};
  std::vector<fs::path> files;
  for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error))
    if (is_record_name(it->path()) && !it->path().filename().string().starts_with(".") && it->is_regular_file(error))
      files.push_back(it->path());
  std::sort(files.begin(), files.end());
  if (files.empty())
    throw Error(
        ErrorKind::kNoCase,
        "[input] " + path.string() + " has no TFRecord file; expected names like x.tfrecords or train-00000-of-00010");
  return files;
}

}  // namespace

std::vector<RecordInput> record_inputs(const fs::path& path, std::vector<CaseFailure>& failures) {
  std::vector<RecordInput> inputs;
  std::set<std::string> ids;
  for (const fs::path& file : files_of(path)) {
    const std::string id = record_stem(file);
    const std::string problem = name_problem(id);
    if (!problem.empty())
      failures.push_back(
          {shown_name(file.filename().string()), "E_NAME", "the name of the file " + problem + "; rename it"});
    else if (!ids.insert(id).second)
      failures.push_back({shown_name(file.filename().string()), "E_DUPLICATE",
                          "another file gives its samples the name " + id + " too; rename one"});
    else
      inputs.push_back({file, id});
  }
  return inputs;
}

std::int64_t for_each_record(const RecordInput& input, const RecordLimits& limits, std::vector<CaseFailure>& failures,
                             const std::function<void(std::int64_t, const TfExample&)>& body) {
  std::optional<RecordReader> reader;
  const std::string name = shown_name(input.file.filename().string());
  if (!in_case_boundary(name, failures, [&] { reader.emplace(input.file, limits); })) return 0;
  std::int64_t whole = 0, noted = 0, more = 0;
  while (!reader->ended()) {
    std::vector<CaseFailure> failed;
    in_case_boundary(name, failed, [&] {
      std::optional<std::string> record = reader->next();
      if (!record) return;
      try {
        const TfExample example = parse_example(*record);
        record.reset();
        body(reader->number(), example);
        ++whole;
      } catch (const Error& e) {
        if (e.kind() != ErrorKind::kInput) throw;
        throw Error(ErrorKind::kInput, e.code(),
                    "[input] " + input.file.string() + ": record " + std::to_string(reader->number()) + " " + e.what());
      }
    });
    for (CaseFailure& failure : failed) {
      if (noted == static_cast<std::int64_t>(BoundedNotes::kMost)) {
        ++more;
        continue;
      }
      ++noted;
      failure.id = name + " record " + std::to_string(reader->number());
      failures.push_back(std::move(failure));
    }
  }
  if (more > 0)
    failures.push_back({name + " " + std::to_string(more) + " more records", "E_ENTRY", "cannot be used either"});
  if (whole == 0 && reader->number() == 0)
    failures.push_back({name, "E_READ",
                        input_error(input.file, "holds no record", "check that it is the file that was meant").what()});
  return whole;
}

RecordShare side_by_side(std::int64_t largest_bytes, std::int64_t times, int threads, std::int64_t free_bytes) {
  RecordShare share{
      .workers = threads,
      .limits = {.most_inflation = VolumeLimits().most_inflation, .free_inflation_bytes = kFreeInflationBytes}};
  if (free_bytes <= 0) return share;
  share.workers = static_cast<int>(
      std::clamp<std::int64_t>(free_bytes / std::max<std::int64_t>(1, largest_bytes * times), 1, threads));
  share.limits.memory_bytes = std::max<std::int64_t>(1, free_bytes / times / share.workers);
  return share;
}

RecordShare side_by_side(std::int64_t largest_bytes, std::int64_t times, int threads) {
  return side_by_side(largest_bytes, times, threads, available_memory_bytes());
}

RecordShare share_of(const std::vector<RecordInput>& inputs, std::int64_t times, int threads) {
  std::int64_t bytes = 0;
  std::vector<CaseFailure> ignored;
  for (const RecordInput& input : inputs)
    in_case_boundary(input.id, ignored, [&] { bytes = std::max(bytes, first_record_bytes(input.file)); });
  return side_by_side(bytes, times, threads);
}

}  // namespace voxshard
