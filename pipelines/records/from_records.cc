#include "pipelines/records/from_records.h"

#include "io/files/file_name.h"
#include "pipelines/records/ct_record.h"
#include "pipelines/records/image_record.h"

namespace voxshard {
namespace {

enum class Holds { kNothing, kVolumes, kImages };

/// Returns the kind of the first record that has one of the features. Its file and damaged files before it are read
/// again later.
Holds first_kind(const std::vector<RecordInput>& inputs, const RecordLimits& limits) {
  for (const RecordInput& input : inputs) {
    std::vector<CaseFailure> ignored;
    Holds found = Holds::kNothing;
    const auto look = [&] {
      RecordReader reader(input.file, limits);
      while (found == Holds::kNothing && !reader.ended())
        in_case_boundary("", ignored, [&] {
          const auto record = reader.next();
          if (!record) return;
          const TfExample example = parse_example(*record);
          found = example.has(kCtImage) ? Holds::kVolumes : example.has(kEncoded) ? Holds::kImages : Holds::kNothing;
        });
    };
    in_case_boundary("", ignored, look);
    if (found != Holds::kNothing) return found;
  }
  return Holds::kNothing;
}

}  // namespace

TaskReport convert_from_records(const ConvertRequest& request, Progress& progress) {
  std::vector<CaseFailure> failures;
  const std::vector<RecordInput> inputs = record_inputs(request.input, failures);
  const RecordLimits limits = side_by_side(0, kRecordTimes, 1).limits;
  switch (first_kind(inputs, limits)) {
    case Holds::kVolumes:
      return volumes_from_records(request, inputs, std::move(failures), progress);
    case Holds::kImages:
      return images_from_records(request, inputs, std::move(failures), progress);
    default:
      break;
  }
  for (const RecordInput& input : inputs)
    for_each_record(input, limits, failures, [](std::int64_t, const TfExample& example) {
      std::string names;
      for (const auto& [name, feature] : example.features)
        if (names.size() < 200) names += (names.empty() ? "" : ", ") + shown_name(name);
      throw Error(ErrorKind::kInput, "E_FEATURE",
                  std::string("has neither ") + kCtImage + " nor " + kEncoded + "; it has " +
                      (names.empty() ? "no feature" : names));
    });
  throw Error(ErrorKind::kNoCase, "[convert] " + request.input.string() + ": no record can be used" +
                                      (failures.empty() ? "" : "; the first: " + failures.front().message));
}

TaskReport convert_report(const ConvertRequest& request, std::int64_t converted, const std::string& what,
                          const std::vector<CaseFailure>& failures, std::vector<std::string> next, Progress& progress) {
  for (const CaseFailure& failure : failures)
    progress.warn(shown_name(failure.id, kMostNameBytes) + ": " + failure.message);
  write_quarantine(request.output, failures);
  if (converted == 0)
    throw Error(ErrorKind::kNoCase, "[convert] " + request.input.string() + ": nothing can be converted; the first: " +
                                        (failures.empty() ? std::string("it is empty") : failures.front().message));
  TaskReport report;
  report.json = {
      {"output", request.output.string()}, {"converted", converted}, {"what", what}, {"failures", to_json(failures)}};
  report.text = std::to_string(converted) + " " + (converted == 1 ? what.substr(0, what.size() - 1) : what) +
                (failures.empty() ? ""
                                  : ", " + std::to_string(failures.size()) + " quarantined (see " +
                                        (request.output / "quarantine.csv").string() + ")") +
                "\n";
  report.partial = !failures.empty();
  report.next = std::move(next);
  return report;
}

}  // namespace voxshard
