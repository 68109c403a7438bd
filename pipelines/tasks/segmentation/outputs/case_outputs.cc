#include "pipelines/tasks/segmentation/outputs/case_outputs.h"

#include <algorithm>

#include "io/datasets/hidden_paths.h"
#include "io/dicom_out/filled_uids.h"
#include "io/dicom_out/measurement_report.h"
#include "io/dicom_out/segmentation_object.h"
#include "io/dicom_out/structure_set.h"
#include "io/files/content_hash.h"
#include "io/files/file_error.h"
#include "io/files/file_name.h"
#include "libcore/base/text.h"
#include "pipelines/tasks/segmentation/dataset/memory_moments.h"
#include "pipelines/tasks/segmentation/outputs/measures_file.h"
#include "pipelines/tasks/segmentation/outputs/report_rows.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

constexpr const char *kReportEnding = ".sr.dcm", *kStructuresEnding = ".rtstruct.dcm";

constexpr const char* kKeptAlone = "an earlier call kept the label map alone, and said why";

/// One output: its word, the ending of its file, and whether it is asked for.
struct WrittenKind {
  std::string_view word;
  const char* ending;  // null: of the segmentation, SegmentPart tells it
  bool WrittenOutputs::*asked;
  bool dicom;
};
constexpr WrittenKind kKinds[] = {{kWrittenWords[0], nullptr, &WrittenOutputs::segmentation, true},
                                  {kWrittenWords[1], kMeasuresEnding, &WrittenOutputs::measures, false},
                                  {kWrittenWords[2], kReportEnding, &WrittenOutputs::report, true},
                                  {kWrittenWords[3], kStructuresEnding, &WrittenOutputs::structures, true}};

bool has_label(const Tensor& labels) {
  const auto* v = labels.as<std::int32_t>();
  return std::any_of(v, v + labels.count(), [](std::int32_t label) { return label > 0; });
}

std::vector<std::string> endings_of(const WrittenKind& kind, const std::vector<SegmentPart>& parts) {
  if (kind.ending != nullptr) return {kind.ending};
  std::vector<std::string> endings;
  for (const SegmentPart& part : parts) endings.push_back(part.ending());
  return endings;
}

}  // namespace

CaseOutputs::CaseOutputs(OutputChoice choice, PredictionBatch& batch) : choice_(std::move(choice)), b_(batch) {
  const char* alone = !choice_.outbox.empty() ? "{outbox}" : choice_.fill_uids ? "{fill-uids}" : nullptr;
  if (alone != nullptr && !choice_.asked.any_dicom())
    throw Error(ErrorKind::kUsage, std::string("[predict] ") + alone +
                                       " is about DICOM objects; {write} them: dicom-seg, sr or rt-struct");
  if (!choice_.terms.empty()) own_ = SegmentTerms::with_file(choice_.terms);
  if (!choice_.asked.any_dicom()) return;
  std::vector<std::string> without;
  for (std::size_t c = 1; c < choice_.classes.size(); ++c)
    if (terms().of(choice_.classes[c]).generic) without.push_back(shown_name(choice_.classes[c]));
  if (!without.empty())
    b_.progress.warn("W_TERM " + joined(without, ", ") + (without.size() == 1 ? " has" : " have") +
                     " no row in the table of coded terms; {terms} takes a file with more: coded as " +
                     terms().generic().type.meaning);
}

void CaseOutputs::begin() {
  if (!choice_.outbox.empty()) sending_.emplace(choice_.outbox, choice_.fill_uids);
}

std::string CaseOutputs::data_hash(const Case& item, const PredictionTurn& turn,
                                   const std::vector<std::string>& hashes) const {
  const std::string made = made_hash(b_, item, turn, hashes);
  return choice_.fill_uids && lacks_uids(item, b_.options.formats.limits) ? content_hash(made + " filled") : made;
}

std::string CaseOutputs::settings_hash(const std::string& run) const {
  if (!choice_.asked.any()) return run;
  std::string words = run;
  for (const WrittenKind& kind : kKinds)
    if (choice_.asked.*kind.asked) words += " " + std::string(kind.word);
  if (choice_.asked.segmentation && choice_.most_segments > 0) words += by_segments();
  return content_hash(words + (choice_.asked.any_dicom() ? " " + terms().hash() : ""));
}

std::string CaseOutputs::key_of_objects(const ObjectKeys& keys) const {
  return content_hash(keys.object + " " + terms().hash());
}

fs::path CaseOutputs::file(const Case& item, const std::string& ending) const {
  return named_file(b_.options.output, item.id, ending);
}

void CaseOutputs::refuse(const Case& item, std::string_view output, const std::string& code,
                         const std::string& reason) {
  b_.progress.warn("case " + shown_name(item.id) + ": W_OUTPUT " + std::string(output) + " is not written: " + reason);
  b_.report.damaged = true;
  b_.report.found[kNotWritten].push_back({{"case", item.id}, {"output", output}, {"code", code}, {"reason", reason}});
}

void CaseOutputs::say(const Case& item, const std::vector<RefusedOutput>& refused) {
  for (const RefusedOutput& one : refused) refuse(item, one.output, one.code, one.reason);
}

bool CaseOutputs::attempt(const Case& item, std::string_view output, std::vector<RefusedOutput>& refused,
                          const std::function<void()>& body) {
  try {
    body();
    return true;
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::kInput) throw;
    refused.push_back({std::string(output), e.code(), item.anonymous ? without_paths(e.what(), item) : e.what()});
    return false;
  }
}

CaseOutputs::Opened CaseOutputs::open(const Case& item, const Volume& labels, const ObjectKeys& keys,
                                      std::int64_t beside_bytes) {
  Opened opened{.possible = choice_.asked};
  if (!choice_.asked.any()) return opened;
  open_source(item, labels.geometry, keys.input, opened);
  if (opened.source) opened.key = uid_key(key_of_objects(keys), opened.source->series.common.series, labels.voxels);
  if (opened.reason.empty() && choice_.asked.any_dicom() && !has_label(labels.voxels))
    opened.reason = "no voxel has a class", opened.code = "W_OUTPUT";
  for (const WrittenKind& kind : kKinds)
    if (kind.dicom && !opened.reason.empty() && opened.possible.*kind.asked) {
      refuse(item, kind.word, opened.code, opened.reason);
      opened.possible.*kind.asked = false;
    }
  require_memory(item, labels, beside_bytes, opened);
  for (const WrittenKind& kind : kKinds)
    if (opened.possible.*kind.asked)
      for (const std::string& ending : endings_of(kind, opened.parts))
        opened.files.insert(file(item, ending).filename().string());
  return opened;
}

void CaseOutputs::open_source(const Case& item, const Geometry& labels, const std::string& input, Opened& opened) {
  if (!choice_.asked.any_dicom()) return;
  opened.code = "W_OUTPUT";
  try {
    opened.from = open_series(item.images.front(), b_.options.formats.limits);
    if (!opened.from) {
      opened.reason = "the image is no DICOM series";
      return;
    }
    opened.source = read_source_series(opened.from->series);
    if (choice_.fill_uids && fill_uids(*opened.source, input))
      b_.progress.log("case " + shown_name(item.id) + ": its files lack UIDs, which are made of a hash of them");
    opened.reason = unfit_reason(*opened.source, labels);
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::kInput) throw;
    opened.reason = item.anonymous ? without_paths(e.what(), item) : e.what(), opened.code = e.code();
  }
}

std::vector<RefusedOutput> CaseOutputs::foretell(const Case& item, bool kept) {
  std::vector<RefusedOutput> refused;
  Opened opened;
  if (kept)
    opened.code = "W_OUTPUT", opened.reason = kKeptAlone;
  else
    open_source(item, read_volume_info(item.images.front(), b_.options.formats).geometry, "", opened);
  for (const WrittenKind& kind : kKinds) {
    if (!(choice_.asked.*kind.asked) || opened.reason.empty()) continue;
    if (kept ? !written_files(item, kind.ending).empty() : !kind.dicom) continue;
    refused.push_back({std::string(kind.word), opened.code, opened.reason});
    b_.progress.warn("case " + shown_name(item.id) + ": W_OUTPUT " + std::string(kind.word) +
                     " would not be written: " + opened.reason);
  }
  b_.report.damaged = b_.report.damaged || !refused.empty();
  return refused;
}

void CaseOutputs::require_memory(const Case& item, const Volume& labels, std::int64_t beside_bytes, Opened& opened) {
  const ProcessPlan held =
      b_.planned().held + ProcessPlan{{MemoryPart::kResults, labels.voxels.bytes() + beside_bytes}};
  const std::vector<std::int64_t> by_label =
      opened.possible.any_dicom() ? segmentation_frames({*opened.source, labels.voxels, choice_.classes, opened.key})
                                  : std::vector<std::int64_t>(choice_.classes.size());
  const std::int64_t frames = frames_of(whole_segmentation(by_label.size()), by_label);
  opened.parts = segment_parts(by_label, choice_.most_segments);
  std::int64_t most_frames = 0;  // of a file
  for (const SegmentPart& part : opened.parts) most_frames = std::max(most_frames, frames_of(part, by_label));
  if (opened.possible.segmentation && most_frames > kMostShownFrames)
    b_.progress.warn("case " + shown_name(item.id) + ": " +
                     (opened.parts.size() > 1 ? "a file of its segmentation has " : "its segmentation has ") +
                     std::to_string(most_frames) + " frames; some viewers leave out files of more than " +
                     std::to_string(kMostShownFrames) +
                     (choice_.most_segments == 1 ? "" : ": {segments-per-file} splits it"));
  const auto& size = labels.geometry.size;
  const auto bytes_of = [&](const WrittenKind& kind) {
    if (kind.asked == &WrittenOutputs::segmentation)  // at least a frame for each segment, while it is written
      return segmentation_bytes(std::max(most_frames, std::ssize(by_label) - 1), size[1], size[0]);
    if (kind.asked == &WrittenOutputs::structures) return structure_set_bytes(labels.voxels, frames);
    return planned_bytes(reading(read_volume_info(item.images.front(), b_.options.formats)));
  };
  for (const WrittenKind& kind : kKinds) {
    bool& possible = opened.possible.*kind.asked;
    std::int64_t bytes = 0;
    std::vector<RefusedOutput> refused;
    possible = possible && attempt(item, kind.word, refused, [&] { bytes = bytes_of(kind); });
    say(item, refused);
    if (!possible) continue;
    const ProcessPlan taken = held + ProcessPlan{{MemoryPart::kResults, bytes}};
    b_.make_room(taken);
    const std::int64_t left = left_of(b_.options.formats.limits.memory_bytes, (held + b_.warm()).total());
    if (left > 0 && bytes > left) {
      refuse(item, kind.word, "E_BUDGET", "it would take " + bytes_text(bytes) + " beside the label map");
      possible = false;
      continue;
    }
    opened.bytes = std::max(opened.bytes, bytes);
    b_.takes(taken + b_.warm());
  }
  if (opened.possible.report && !opened.possible.segmentation) {
    refuse(item, "sr", "E_BUDGET", "the segmentation that it refers to is not written");
    opened.possible.report = false;
  }
}

void CaseOutputs::write(const Case& item, const Volume& labels, const Opened& opened,
                        const std::vector<QualityFlag>& flags, std::vector<RefusedOutput>& refused) const {
  const WrittenOutputs& possible = opened.possible;
  remove_earlier(opened);
  std::vector<ClassMeasures> measures;
  if (possible.measures || possible.report)
    attempt(item, possible.measures ? "measures" : "sr", refused, [&] {
      const Volume image = read_image(item.images.front(), b_.options.formats);
      if (image.voxels.shape() != labels.voxels.shape())
        throw input_error(item.images.front(), "changed while it was predicted", "predict it again");
      measures = measure_classes(labels, image, choice_.classes);
    });
  if (possible.measures && !measures.empty())
    write_case_measures(file(item, kMeasuresEnding),
                        {item.id, choice_.classes, measures, choice_.hounsfield ? "HU" : "", flags});
  if (possible.measures && possible.report && measures.empty())
    refused.push_back({"sr", "W_OUTPUT", "the measures that it holds are not written"});
  if (!possible.any_dicom()) return;
  const SeriesLabels on_series{*opened.source, labels.voxels, choice_.classes, opened.key};
  const bool segmented = possible.segmentation && attempt(item, "dicom-seg", refused, [&] {
                           for (const SegmentPart& part : opened.parts)
                             write_segmentation(file(item, part.ending()), on_series, terms(), part);
                         });
  for (const SegmentPart& part : opened.parts)  // one without the others would look whole
    if (std::error_code none; possible.segmentation && !segmented) fs::remove(file(item, part.ending()), none);
  if (possible.report && !measures.empty() && !segmented)
    refused.push_back({"sr", "W_OUTPUT", "the segmentation that it refers to is not written"});
  if (possible.report && !measures.empty() && segmented)
    attempt(item, "sr", refused, [&] {
      write_measurement_report(
          file(item, kReportEnding), on_series, terms(),
          {.numbers = numbers_of(measures, choice_.hounsfield), .parts = opened.parts, .flags = report_flags(flags)});
    });
  if (possible.structures)
    attempt(item, "rt-struct", refused,
            [&] { write_structure_set(file(item, kStructuresEnding), on_series, terms()); });
}

void CaseOutputs::remove_earlier(const Opened& opened) const {
  for (const std::string& name : opened.files) {
    const fs::path earlier = b_.options.output / name;
    std::error_code error;
    fs::remove(earlier, error);
    if (error) throw output_error(earlier, "the earlier one cannot be removed: " + error.message(), "check its folder");
  }
}

void CaseOutputs::keep(const Case& item) {
  for (const WrittenKind& kind : kKinds)
    if (choice_.asked.*kind.asked && written_files(item, kind.ending).empty())
      refuse(item, kind.word, "W_OUTPUT", kKeptAlone);
}

std::vector<fs::path> CaseOutputs::written_files(const Case& item, const char* ending) const {
  std::vector<fs::path> files;
  const auto add = [&](const std::string& one) {
    std::error_code unseen;
    const bool there = fs::exists(file(item, one), unseen);
    if (there) files.push_back(file(item, one));
    return there;
  };
  if (ending != nullptr) {
    add(ending);
  } else if (!add(SegmentPart{}.ending())) {
    for (std::size_t number = 1; add(SegmentPart{.number = number}.ending());) ++number;
  }
  return files;
}

void CaseOutputs::send(const Case& item, const ObjectKeys& keys) {
  if (!sending_) return;
  CaseObjects made{.item = item, .input = keys.input};
  std::string text = key_of_objects(keys);
  for (const WrittenKind& kind : kKinds) {
    if (!kind.dicom || !(choice_.asked.*kind.asked)) continue;
    text += " " + std::string(kind.word);  // an item that was sent without the report is not one with it
    for (fs::path& one : written_files(item, kind.ending)) made.files.push_back(std::move(one));
  }
  if (choice_.asked.segmentation && choice_.most_segments > 0) text += by_segments();
  // Another label map of the same study has other objects, which are sent too: uid_key().
  made.key = content_hash(text + " " + file_hash(file(item, b_.options.formats.rows.front().endings.back())));
  const std::optional<HeldReason> held = sending_->send(made, b_.options.formats.limits);
  if (!held) return;
  b_.progress.warn("case " + shown_name(item.id) + ": " + held->code + " not sent: " + held->reason);
  b_.report.damaged = true;
  b_.report.found[kHeldCases].push_back({{"case", item.id}, {"code", held->code}, {"reason", held->reason}});
}

void CaseOutputs::finish() {
  const fs::path& folder = b_.options.output;
  if (!choice_.asked.measures) return remove_measures(folder);
  std::vector<std::string> ids;
  for (const PredictedCase& one : b_.report.cases) ids.push_back(one.id);
  join_measures(folder, ids);
}

}  // namespace voxshard
