#include "pipelines/tasks/segmentation/outputs/case_outputs.h"

#include <algorithm>

#include "io/datasets/hidden_paths.h"
#include "io/dicom_out/measurement_report.h"
#include "io/dicom_out/segmentation_object.h"
#include "io/dicom_out/structure_set.h"
#include "io/files/content_hash.h"
#include "io/files/file_error.h"
#include "io/files/file_name.h"
#include "libcore/base/text.h"
#include "pipelines/tasks/segmentation/dataset/memory_moments.h"
#include "pipelines/tasks/segmentation/outputs/measures_file.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

constexpr const char *kSegmentationEnding = ".seg.dcm", *kReportEnding = ".sr.dcm",
                     *kStructuresEnding = ".rtstruct.dcm";

/// One output: its word, the ending of its file, and whether it is asked for.
struct WrittenKind {
  std::string_view word;
  const char* ending;
  bool WrittenOutputs::*asked;
  bool dicom;
};
constexpr WrittenKind kKinds[] = {{kWrittenWords[0], kSegmentationEnding, &WrittenOutputs::segmentation, true},
                                  {kWrittenWords[1], kMeasuresEnding, &WrittenOutputs::measures, false},
                                  {kWrittenWords[2], kReportEnding, &WrittenOutputs::report, true},
                                  {kWrittenWords[3], kStructuresEnding, &WrittenOutputs::structures, true}};

/// More frames than these are left out by some viewers (reported for Weasis, issue 680).
constexpr std::int64_t kMostShownFrames = 400;

bool has_label(const Tensor& labels) {
  const auto* v = labels.as<std::int32_t>();
  return std::any_of(v, v + labels.count(), [](std::int32_t label) { return label > 0; });
}

std::vector<ClassNumbers> numbers_of(const std::vector<ClassMeasures>& measures, bool hounsfield) {
  std::vector<ClassNumbers> numbers;
  for (const ClassMeasures& m : measures)
    numbers.push_back({.volume_ml = m.volume_ml,
                       .mean_hu = hounsfield ? m.mean : std::nullopt,
                       .deviation_hu = hounsfield ? m.deviation : std::nullopt,
                       .diameter_mm = m.diameter_mm});
  return numbers;
}

}  // namespace

CaseOutputs::CaseOutputs(OutputChoice choice, PredictionBatch& batch) : choice_(std::move(choice)), b_(batch) {
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

std::string CaseOutputs::settings_hash(const std::string& run) const {
  if (!choice_.asked.any()) return run;
  std::string words = run;
  for (const WrittenKind& kind : kKinds)
    if (choice_.asked.*kind.asked) words += " " + std::string(kind.word);
  return content_hash(words + (choice_.asked.any_dicom() ? " " + terms().hash() : ""));
}

fs::path CaseOutputs::file(const Case& item, const char* ending) const {
  return named_file(b_.options.output, item.id, ending);
}

void CaseOutputs::refuse(const Case& item, std::string_view output, const std::string& code,
                         const std::string& reason) {
  b_.progress.warn("case " + shown_name(item.id) + ": W_OUTPUT " + std::string(output) + " is not written: " + reason);
  b_.report.damaged = true;
  b_.report.found[kNotWritten].push_back({{"case", item.id}, {"output", output}, {"code", code}, {"reason", reason}});
}

bool CaseOutputs::attempt(const Case& item, std::string_view output, const std::function<void()>& body) {
  try {
    body();
    return true;
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::kInput) throw;
    refuse(item, output, e.code(), item.anonymous ? without_paths(e.what(), item) : e.what());
    return false;
  }
}

CaseOutputs::Opened CaseOutputs::open(const Case& item, const Volume& labels, const std::string& key,
                                      std::int64_t beside_bytes) {
  Opened opened{.possible = choice_.asked, .key = content_hash(key + " " + terms().hash())};
  if (!choice_.asked.any()) return opened;
  std::string reason, code = "W_OUTPUT";
  if (choice_.asked.any_dicom()) {
    try {
      opened.from = open_series(item.images.front(), b_.options.formats.limits);
      if (!opened.from) {
        reason = "the image is no DICOM series";
      } else {
        opened.source = read_source_series(opened.from->series);
        reason = unfit_reason(*opened.source, labels.geometry);
        if (reason.empty() && !has_label(labels.voxels)) reason = "no voxel has a class";
      }
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::kInput) throw;
      reason = item.anonymous ? without_paths(e.what(), item) : e.what(), code = e.code();
    }
  }
  for (const WrittenKind& kind : kKinds)
    if (kind.dicom && !reason.empty() && opened.possible.*kind.asked) {
      refuse(item, kind.word, code, reason);
      opened.possible.*kind.asked = false;
    }
  require_memory(item, labels, beside_bytes, opened);
  for (const WrittenKind& kind : kKinds)
    if (opened.possible.*kind.asked) opened.files.insert(file(item, kind.ending).filename().string());
  return opened;
}

void CaseOutputs::require_memory(const Case& item, const Volume& labels, std::int64_t beside_bytes, Opened& opened) {
  const ProcessPlan held =
      b_.planned().held + ProcessPlan{{MemoryPart::kResults, labels.voxels.bytes() + beside_bytes}};
  const std::int64_t left = left_of(b_.options.formats.limits.memory_bytes, held.total());
  const bool objects = opened.possible.any_dicom();
  const std::int64_t frames =
      objects ? segmentation_frames({*opened.source, labels.voxels, choice_.classes, opened.key}) : 0;
  if (opened.possible.segmentation && frames > kMostShownFrames)
    b_.progress.log("case " + shown_name(item.id) + ": its segmentation has " + std::to_string(frames) +
                    " frames; some viewers leave out files of more than " + std::to_string(kMostShownFrames));
  const auto& size = labels.geometry.size;
  const auto bytes_of = [&](const WrittenKind& kind) {
    if (kind.asked == &WrittenOutputs::segmentation) return segmentation_bytes(frames, size[1], size[0]);
    if (kind.asked == &WrittenOutputs::structures) return structure_set_bytes(labels.voxels, frames);
    return planned_bytes(reading(read_volume_info(item.images.front(), b_.options.formats)));
  };
  for (const WrittenKind& kind : kKinds) {
    bool& possible = opened.possible.*kind.asked;
    std::int64_t bytes = 0;
    possible = possible && attempt(item, kind.word, [&] { bytes = bytes_of(kind); });
    if (!possible) continue;
    if (left > 0 && bytes > left) {
      refuse(item, kind.word, "E_BUDGET", "it would take " + bytes_text(bytes) + " beside the label map");
      possible = false;
      continue;
    }
    b_.takes(held + ProcessPlan{{MemoryPart::kResults, bytes}});
  }
  if (opened.possible.report && !opened.possible.segmentation) {
    refuse(item, "sr", "E_BUDGET", "the segmentation that it refers to is not written");
    opened.possible.report = false;
  }
}

void CaseOutputs::write(const Case& item, const Volume& labels, const Opened& opened) {
  const WrittenOutputs& possible = opened.possible;
  remove_earlier(opened);
  std::vector<ClassMeasures> measures;
  if (possible.measures || possible.report)
    attempt(item, possible.measures ? "measures" : "sr", [&] {
      const Volume image = read_image(item.images.front(), b_.options.formats);
      if (image.voxels.shape() != labels.voxels.shape())
        throw input_error(item.images.front(), "changed while it was predicted", "predict it again");
      measures = measure_classes(labels, image, choice_.classes);
    });
  if (possible.measures && !measures.empty())
    write_case_measures(file(item, kMeasuresEnding), item.id, choice_.classes, measures,
                        choice_.hounsfield ? "HU" : "");
  if (possible.measures && possible.report && measures.empty())
    refuse(item, "sr", "W_OUTPUT", "the measures that it holds are not written");
  if (!possible.any_dicom()) return;
  const SeriesLabels on_series{*opened.source, labels.voxels, choice_.classes, opened.key};
  const bool segmented = possible.segmentation && attempt(item, "dicom-seg", [&] {
                           write_segmentation(file(item, kSegmentationEnding), on_series, terms());
                         });
  if (possible.report && !measures.empty() && !segmented)
    refuse(item, "sr", "W_OUTPUT", "the segmentation that it refers to is not written");
  if (possible.report && !measures.empty() && segmented)
    attempt(item, "sr", [&] {
      write_measurement_report(file(item, kReportEnding), on_series, terms(), numbers_of(measures, choice_.hounsfield));
    });
  if (possible.structures)
    attempt(item, "rt-struct", [&] { write_structure_set(file(item, kStructuresEnding), on_series, terms()); });
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
    if (std::error_code unseen; choice_.asked.*kind.asked && !fs::exists(file(item, kind.ending), unseen))
      refuse(item, kind.word, "W_OUTPUT", "an earlier call kept the label map alone, and said why");
}

void CaseOutputs::finish() {
  const fs::path& folder = b_.options.output;
  if (!choice_.asked.measures) return remove_measures(folder);
  std::vector<std::string> ids;
  for (const PredictedCase& one : b_.report.cases) ids.push_back(one.id);
  join_measures(folder, ids);
}

}  // namespace voxshard
