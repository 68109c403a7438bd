#include "pipelines/tasks/segmentation/outputs/case_sending.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "io/dicom_out/filled_uids.h"
#include "io/dicom_out/patient_identity.h"
#include "io/files/file_name.h"
#include "io/volume/archive.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kKeyDigits = 16;

/// Returns why objects are not those of their images.
///   source  the series, with its UIDs as they are
///   filled  the same, with UIDs that were missing
std::optional<HeldReason> identity_reason(const std::vector<fs::path>& files, const SourceSeries& source,
                                          const SourceSeries& filled) {
  constexpr const char* kCode = "E_IDENTITY";
  std::optional<PatientIdentity> whose = series_identity(source.series);
  if (!whose) return HeldReason{kCode, "the files of the series name several patients, studies or frames of reference"};
  const DicomHeader& before = source.series.common;
  if (whose->study != before.study || whose->frame_of_reference != before.frame_of_reference)
    return HeldReason{kCode, "the headers of the series changed while its objects were made"};
  whose->study = filled.series.common.study, whose->frame_of_reference = filled.series.common.frame_of_reference;
  for (const fs::path& file : files)
    if (!is_of(file, *whose))
      return HeldReason{kCode, file.filename().string() +
                                   " names another patient, study or frame of reference than the series it is made of"};
  return std::nullopt;
}

}  // namespace

void require_outbox_apart(const fs::path& outbox, const std::vector<fs::path>& others) {
  if (outbox.empty()) return;
  for (const fs::path& other : others)
    if (!other.empty() && (lies_in(outbox, other) || lies_in(other, outbox)))
      throw Error(ErrorKind::kUsage, "[predict] {outbox} " + outbox.string() + " and " + other.string() +
                                         " lie one in the other; choose a place of its own");
}

bool lacks_uids(const Case& item, const VolumeLimits& limits) {
  const std::optional<OpenedSeries> opened = open_series(item.images.front(), limits);
  return opened && !lacking_uids(read_source_series(opened->series)).empty();
}

std::optional<HeldReason> CaseSending::send(const CaseObjects& made, const VolumeLimits& limits) const {
  const std::string item = made.item.id + "-" + made.key.substr(0, kKeyDigits);
  if (outbox_.has(item)) return outbox_.release(item), std::nullopt;
  std::optional<HeldReason> held;
  try {
    held = reason_to_hold(made, limits);
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::kInput) throw;
    held = HeldReason{"E_IDENTITY", "its images or its objects cannot be read again, to hold one against the other"};
  }
  if (held) {
    outbox_.hold(item, {{"case", made.item.id}, {"code", held->code}, {"reason", held->reason}});
    return held;
  }
  if (!made.files.empty()) outbox_.place(item, made.files);
  outbox_.release(item);
  return std::nullopt;
}

std::optional<HeldReason> CaseSending::reason_to_hold(const CaseObjects& made, const VolumeLimits& limits) const {
  const std::optional<OpenedSeries> opened = open_series(made.item.images.front(), limits);
  if (!opened) return std::nullopt;
  const SourceSeries source = read_source_series(opened->series);
  SourceSeries filled = source;
  if (fill_uids_) fill_uids(filled, made.input);
  if (const std::string lacking = lacking_uids(filled); !lacking.empty() && source.series.problem.empty())
    return HeldReason{"E_UIDS", lacking + (fill_uids_ ? "" : "; the setting fill-uids fills them")};
  return made.files.empty() ? std::nullopt : identity_reason(made.files, source, filled);
}

}  // namespace voxshard
