#include "io/dicom/dicom_series.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "io/dicom/dicom_grid.h"
#include "io/dicom/structures.h"
#include "io/files/content_hash.h"
#include "io/files/file_name.h"
#include "io/files/private_folder.h"
#include "libcore/base/coded_text.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

/// Direction cosines of one series differ by rounding alone: headers round them to as little as three digits.
constexpr double kSameCosine = 1.5e-3;

/// Returns what a file without a slice is, for counting; empty for a file with slices.
std::string kind_without_slices(const DicomHeader& h) {
  // SOP class UIDs of DICOM PS3.4 B.5 and PS3.10.
  static const std::vector<std::pair<std::string, std::string>> kClasses = {
      {"1.2.840.10008.1.3.10", "directory"},
      {"1.2.840.10008.5.1.4.1.1.481.2", "dose"},
      {"1.2.840.10008.5.1.4.1.1.7", "secondary capture"},
      {"1.2.840.10008.5.1.4.1.1.7.1", "secondary capture"},
      {"1.2.840.10008.5.1.4.1.1.7.2", "secondary capture"},
      {"1.2.840.10008.5.1.4.1.1.7.3", "secondary capture"},
      {"1.2.840.10008.5.1.4.1.1.7.4", "secondary capture"}};
  for (const auto& [uid, kind] : kClasses)
    if (h.sop_class == uid) return kind;
  if (is_dicom_segmentation(h)) return "segmentation";
  if (is_structure_set(h)) return "structure set";
  if (h.kind == "LOCALIZER") return "localizer";
  return h.rows == 0 || h.columns == 0 ? "object without an image" : "";
}

bool same_direction(const std::array<double, 6>& a, const std::array<double, 6>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), [](double x, double y) { return std::abs(x - y) <= kSameCosine; });
}

bool same_plane(const DicomFrame& a, const DicomFrame& b) {
  if (a.orientation.has_value() != b.orientation.has_value()) return false;
  return (!a.orientation || same_direction(*a.orientation, *b.orientation)) && a.spacing == b.spacing;
}

/// Slices that belong together, as (header, frame).
struct Group {
  std::string name;  // what they have in common, as text
  DicomFrame plane;
  std::vector<std::pair<std::size_t, std::size_t>> members;
};

std::string common_text(const DicomHeader& h) {
  std::string text = h.study + "\n" + h.series + "\n" + h.modality + "\n" + h.kernel + "\n" + std::to_string(h.rows) +
                     "x" + std::to_string(h.columns) + "x" + std::to_string(h.samples) + "\n" +
                     (h.thickness_mm ? std::to_string(*h.thickness_mm) : "");
  // Series whose UID was removed are told apart by their folders.
  if (h.series.empty()) text += "\n" + path_outside(h.file).parent_path().string();
  return text;
}

std::vector<Group> group_slices(const std::vector<DicomHeader>& headers,
                                std::map<std::string, std::int64_t>& left_out) {
  std::map<std::string, std::vector<Group>> by_text;
  for (std::size_t i = 0; i < headers.size(); ++i) {
    if (const std::string kind = kind_without_slices(headers[i]); !kind.empty()) {
      ++left_out[kind];
      continue;
    }
    std::vector<Group>& groups = by_text[common_text(headers[i])];
    for (std::size_t f = 0; f < headers[i].frames.size(); ++f) {
      const DicomFrame& frame = headers[i].frames[f];
      auto at = std::find_if(groups.begin(), groups.end(), [&](const Group& g) { return same_plane(g.plane, frame); });
      if (at == groups.end()) at = groups.insert(at, {.plane = frame});
      at->members.emplace_back(i, f);
    }
  }
  std::vector<Group> all;
  for (auto& [text, groups] : by_text)
    for (std::size_t g = 0; g < groups.size(); ++g) {
      groups[g].name = text + (g > 0 ? "\nplane " + std::to_string(g) : "");
      all.push_back(std::move(groups[g]));
    }
  return all;
}

/// The elements that may tell slices at one place apart.
struct Distinction {
  const char* name;  // part of the text that ids are made of
  std::string (*of)(const DicomHeader& header, const DicomFrame& frame);
};
const Distinction kDistinctions[] = {
    {"acquisition", [](const DicomHeader& header, const DicomFrame&) { return header.acquisition; }},
    {"time", [](const DicomHeader&, const DicomFrame& frame) { return std::to_string(frame.temporal_position); }}};

/// Splits a group by the first of kDistinctions that separates all slices that lie at one place; otherwise returns it
/// whole.
std::vector<Group> split_coinciding(Group group, const std::vector<DicomHeader>& headers) {
  if (!has_coinciding_slices(group.plane, group.members, headers)) return {std::move(group)};
  for (const Distinction& distinction : kDistinctions) {
    std::map<std::string, Group> parts;
    for (const auto& member : group.members) {
      const DicomHeader& header = headers[member.first];
      const std::string number = distinction.of(header, header.frames[member.second]);
      Group& part = parts[number];
      part.name = group.name + "\n" + distinction.name + " " + number, part.plane = group.plane;
      part.members.push_back(member);
    }
    const bool apart = std::ranges::none_of(
        parts, [&](const auto& part) { return has_coinciding_slices(group.plane, part.second.members, headers); });
    if (!apart) continue;
    std::vector<Group> split;
    for (auto& [number, part] : parts) split.push_back(std::move(part));
    return split;
  }
  return {std::move(group)};
}

/// Returns the earliest and latest time at which files were scanned; none where one does not say it.
std::optional<std::array<double, 2>> acquired_range(const std::vector<const DicomHeader*>& files) {
  std::optional<std::array<double, 2>> range;
  for (const DicomHeader* h : files) {
    if (!h->acquired_s) return std::nullopt;
    if (!range) range = {*h->acquired_s, *h->acquired_s};
    range = {std::min((*range)[0], *h->acquired_s), std::max((*range)[1], *h->acquired_s)};
  }
  return range;
}

/// Returns the deepest folder that holds all files.
fs::path common_folder(const std::vector<DicomFile>& files) {
  fs::path common = files.front().path.parent_path();
  for (const DicomFile& file : files) {
    fs::path kept;
    const fs::path folder = file.path.parent_path();
    for (auto a = common.begin(), b = folder.begin(); a != common.end() && b != folder.end() && *a == *b; ++a, ++b)
      kept /= *a;
    common = kept;
  }
  return common;
}

/// Makes the values of a PET SUV, or says why not.
void scale_pet(DicomSeries& series, const std::vector<PetHeader>& pets) {
  const SuvScale scale = suv_scale(pets);
  if (scale.lacks.empty()) {
    for (DicomSlice& slice : series.slices) slice.slope *= scale.factor, slice.intercept *= scale.factor;
    series.unit = "SUV by body weight (g/ml)";
    return;
  }
  series.unit = pets.front().units == "BQML" ? "Bq/ml" : "as stored";
  add_coded(series.warning, "W_SUV its values stay " +
                                (pets.front().units == "BQML" ? series.unit : "as they are stored") +
                                ": for SUV its header lacks " + scale.lacks);
}

/// Says what is wrong with the UIDs of files, which are read all the same.
void judge_uids(DicomSeries& series, const std::vector<const DicomHeader*>& files) {
  std::set<std::string> known;
  std::int64_t lacking = 0, repeated = 0;
  for (const DicomHeader* h : files) {
    if (h->sop_class.empty() || h->sop_instance.empty() || h->study.empty() || h->series.empty()) ++lacking;
    if (!h->sop_instance.empty() && !known.insert(h->sop_instance).second) ++repeated;
  }
  if (lacking > 0)
    add_coded(
        series.warning,
        "W_UIDS its UIDs were removed or are incomplete: it is read, but an archive will not take back what refers "
        "to it");
  if (repeated > 0)
    add_coded(series.warning, "W_UIDS " + std::to_string(repeated) + " of its files " +
                                  (repeated == 1 ? "repeats" : "repeat") +
                                  " the SOPInstanceUID of another one: it is read, but what refers to such a file may "
                                  "mean either");
}

/// Says what of the pixels may tell who the patient is, whatever becomes of the headers.
void judge_privacy(DicomSeries& series, const std::vector<const DicomHeader*>& files) {
  if (const auto burned = std::ranges::count_if(files, [](const DicomHeader* h) { return h->burned_in; }); burned > 0)
    add_coded(series.warning, "W_BURNED " + std::to_string(burned) + " of its " + std::to_string(files.size()) +
                                  " files say that text is burned into their pixels: it may name the patient");
  if (std::ranges::any_of(files, [](const DicomHeader* h) { return h->shows_face; }))
    add_coded(series.warning, "W_FACE it shows a head: a face can be drawn from its voxels, whatever its header says");
}

DicomSeries series_of(const Group& group, const std::vector<DicomHeader>& headers) {
  DicomSeries series;
  series.key = content_hash(group.name).substr(0, 12);
  std::map<std::size_t, std::size_t> file_of;  // by header
  for (const auto& [header, frame] : group.members) {
    const auto [at, is_new] = file_of.try_emplace(header, series.files.size());
    if (is_new) {
      const DicomHeader& h = headers[header];
      series.files.push_back({h.file, h.frames.size(), h.file_bytes, h.bits, h.is_signed});
    }
    const DicomFrame& from = headers[header].frames[frame];
    const bool in_hu = is_in_hounsfield_units(headers[header], from);
    series.slices.push_back({.file = at->second,
                             .frame = frame,
                             .at = from.position.value_or(std::array<double, 3>{}),
                             .slope = from.slope.value_or(1) == 0 ? 1 : from.slope.value_or(1),
                             .intercept = from.intercept.value_or(0),
                             .padding = in_hu ? headers[header].padding : std::nullopt,
                             .in_hu = in_hu && from.slope && from.intercept});
  }
  series.folder = common_folder(series.files);
  series.common = headers[group.members.front().first];
  series.common.frames = {headers[group.members.front().first].frames[group.members.front().second]};
  const bool all_placed = std::all_of(group.members.begin(), group.members.end(), [&](const auto& m) {
    return headers[m.first].frames[m.second].position.has_value();
  });
  place_series(series, all_placed);
  const auto cut =
      std::count_if(group.members.begin(), group.members.end(), [&](const auto& m) { return !headers[m.first].whole; });
  if (cut > 0)
    refuse_series(series, "E_READ",
                  "has " + std::to_string(cut) + (cut == 1 ? " slice" : " slices") +
                      " in files that are truncated or damaged; copy or export them again");
  std::vector<PetHeader> pets;
  std::vector<const DicomHeader*> of_files;
  for (const auto& [header, file] : file_of) {
    of_files.push_back(&headers[header]);
    if (headers[header].pet) pets.push_back(*headers[header].pet);
  }
  if (!pets.empty()) scale_pet(series, pets);
  judge_uids(series, of_files);
  series.acquired_s = acquired_range(of_files);
  if (series.common.modality == "CT" && !series.common.frames[0].slope)
    add_coded(series.warning, "W_RESCALE it has no RescaleSlope: stored values are taken as Hounsfield units");
  judge_privacy(series, of_files);
  return series;
}

}  // namespace

DicomFolder sort_dicom_series(std::vector<DicomHeader> headers) {
  std::sort(headers.begin(), headers.end(), [](const auto& a, const auto& b) { return a.file < b.file; });
  DicomFolder found;
  for (const DicomHeader& header : headers)
    if (is_dicom_segmentation(header) || is_structure_set(header)) {
      found.structure_files.push_back(header.file);
      if (!header.referenced_series.empty()) found.labelled.insert(header.referenced_series);
    }
  for (Group& group : group_slices(headers, found.left_out))
    for (const Group& part : split_coinciding(std::move(group), headers))
      found.series.push_back(series_of(part, headers));
  std::sort(found.series.begin(), found.series.end(),
            [](const auto& a, const auto& b) { return std::tie(a.folder, a.key) < std::tie(b.folder, b.key); });
  return found;
}

}  // namespace voxshard
