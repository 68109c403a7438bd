#include "io/volume/dicom.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "io/dicom/dicom_pixels.h"
#include "io/dicom/doubled_slices.h"
#include "io/dicom/same_scan.h"
#include "io/dicom/segmentation.h"
#include "io/dicom/series_resample.h"
#include "io/files/channel_address.h"
#include "libcore/base/coded_text.h"
#include "libcore/base/plain_text.h"
#include "libcore/base/text.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSeriesMark = "#series=";

std::optional<std::string> id_in(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.starts_with(kSeriesMark) ? std::optional(name.substr(kSeriesMark.size())) : std::nullopt;
}

bool is_dicom(const fs::path& path) {
  std::error_code error;
  if (channel_in(path)) return false;  // a series is one volume
  if (id_in(path)) return fs::is_directory(path.parent_path(), error);
  return fs::is_directory(path, error) ? holds_dicom(path) : fs::is_regular_file(path, error) && looks_like_dicom(path);
}

/// Returns "1 localizer, 2 structure sets": what a folder holds beside series; may be empty.
std::string left_out_text(const DicomFolder& found) {
  std::vector<std::string> parts;
  for (const auto& [kind, count] : found.left_out) parts.push_back(std::to_string(count) + " " + kind);
  if (!found.unreadable.empty()) parts.push_back(std::to_string(found.unreadable.size()) + " unreadable");
  return joined(parts, ", ");
}

/// Returns the one series of a folder, or the one that stands for the scan of which all are reconstructions, with a
/// note. Errors: kInput when there are none, or those of several scans.
DicomSeries only_series(const DicomFolder& found, const fs::path& path) {
  if (found.series.empty())
    throw input_error(
        path, "holds no DICOM image" + (left_out_text(found).empty() ? "" : " (but " + left_out_text(found) + ")"),
        "check the path; localizers, structure sets and the like do not count", "E_SERIES");
  if (const auto index = series_of_one_scan(found)) {
    DicomSeries series = found.series[*index];
    if (found.series.size() > 1) add_coded(series.warning, chosen_series_text(found.series.size(), series_id(series)));
    return series;
  }
  std::string addresses;
  constexpr std::size_t kMostShown = 8;
  for (std::size_t i = 0; i < std::min(kMostShown, found.series.size()); ++i)
    addresses += (i > 0 ? ", " : "") + series_address(found.series[i]).string();
  throw input_error(path, "holds " + std::to_string(found.series.size()) + " series",
                    "give one of them: " + addresses + (found.series.size() > kMostShown ? ", ..." : ""), "E_SERIES");
}

/// Returns the series of an address or a folder.
DicomSeries series_in_folder(const fs::path& path) {
  const auto id = id_in(path);
  if (!id) return only_series(*find_dicom_series(path), path);
  const auto found = find_dicom_series(path.parent_path());
  for (const DicomSeries& series : found->series)
    if (series_id(series) == *id) return series;
  throw input_error(path, "is no series of that folder", "list its series: voxshard info FOLDER", "E_SERIES");
}

FoundVolumes find_series(const fs::path& folder) {
  const auto found = find_dicom_series(folder);
  FoundVolumes volumes{.left_out = left_out_text(*found)};
  const std::map<std::string, std::string> better = better_series(*found);
  for (const DicomSeries& series : found->series) {
    volumes.volumes.push_back({series_id(series), series_address(series)});
    if (const auto at = better.find(volumes.volumes.back().id); at != better.end())
      volumes.volumes.back().better = at->second;
  }
  return volumes;
}

Geometry geometry_of(const DicomGrid& grid) {
  return {.size = grid.size, .origin = grid.origin, .spacing = grid.spacing, .direction = grid.direction};
}

/// The data behind a path: a segmentation, or a series as it is read.
struct DicomVolume {
  std::optional<DicomSegmentation> segmentation = {};
  DicomSeries series = {};
  std::optional<DicomGrid> upright =
      {};  // the grid on which the series is read; none: its slices are voxels as they are
  const DicomGrid& grid() const { return upright ? *upright : series.grid; }
};

/// Takes away what resampling mends: slices that are there twice, then gaps, uneven distances and tilts. Files beside
/// it that cannot be read stay a reason to refuse the series.
void mend_series(DicomVolume& volume) {
  DicomSeries& series = volume.series;
  if (!series.problem.empty() && std::string_view(series.problem_code) == "E_DOUBLED") join_doubled_slices(series);
  if (can_be_resampled(series)) {
    volume.upright = upright_grid(series);
    std::string said = "W_RESAMPLED it " + series.problem.substr(0, series.problem.rfind(';')) +
                       "; it is resampled on an upright regular grid";
    for (const CodedText& one : coded_texts(series.warning)) add_coded(said, one.code + " " + one.text);
    series.warning = said;
    series.problem.clear();
  }
  if (series.problem.empty() && !series.beside.empty()) {
    series.problem_code = "E_READ";
    series.problem = series.beside;
  }
}

/// Returns the volume of an address, a folder or a file. With `irregular` kResample, a series that can be resampled has
/// no problem any more but a warning.
DicomVolume open_volume(const fs::path& path, IrregularSlices irregular) {
  std::error_code error;
  DicomVolume volume;
  if (id_in(path) || fs::is_directory(path, error)) {
    volume.series = series_in_folder(path);
  } else {
    DicomHeader header = read_dicom_header(path);
    if (is_dicom_segmentation(header)) return {.segmentation = place_segmentation(std::move(header))};
    volume.series = only_series(sort_dicom_series({std::move(header)}), path);
  }
  if (irregular == IrregularSlices::kResample) mend_series(volume);
  return volume;
}

VolumeInfo segmentation_info(const DicomSegmentation& seg) {
  VolumeInfo info;
  info.geometry = geometry_of(seg.grid);
  info.orientation = orientation_code(info.geometry);
  info.scalar_type = "uint" + std::to_string(seg.header.bits);
  info.dimensions.assign(seg.grid.size.begin(), seg.grid.size.end());
  info.form_used = "positions of " + std::to_string(seg.header.frames.size()) + " frames";
  info.voxel_bytes = seg.header.rows * seg.header.columns * std::ssize(seg.header.frames) * seg.header.bits / 8;
  info.file_bytes = seg.header.file_bytes, info.compressed = true;  // empty slices may be left out
  info.extra_bytes = info.voxel_bytes;
  info.problem = seg.problem, info.problem_code = seg.problem_code;
  info.readable = seg.problem.empty();
  info.warning = seg.warning;
  for (const DicomSegment& segment : seg.header.segments)
    info.labels.emplace_back(segment.number, plain_text(segment.label));
  return info;
}

VolumeInfo read_series_info(const fs::path& path, IrregularSlices irregular) {
  const DicomVolume volume = open_volume(path, irregular);
  if (volume.segmentation) return segmentation_info(*volume.segmentation);
  const DicomSeries& series = volume.series;
  const DicomHeader& h = series.common;
  VolumeInfo info;
  info.geometry = geometry_of(volume.grid());
  info.orientation = orientation_code(info.geometry);
  info.scalar_type = (h.is_signed ? "int" : "uint") + std::to_string(h.bits);
  info.components = h.samples;
  info.dimensions.assign(info.geometry.size.begin(), info.geometry.size.end());
  info.slope = series.slices.front().slope, info.intercept = series.slices.front().intercept;
  info.form_used =
      "positions of " + std::to_string(series.slices.size()) + (series.slices.size() == 1 ? " slice" : " slices");
  info.voxel_bytes = voxels_of(geometry_of(series.grid)) * (h.bits / 8) * h.samples;
  // One file is decoded at a time, in its own type and a slice of it in double; what is resampled is held as f32 first.
  std::int64_t pixel_bytes = 0;  // of all frames of a file, at one pixel of each
  for (const DicomFile& file : series.files) {
    pixel_bytes = std::max(pixel_bytes, static_cast<std::int64_t>(file.frames) * (file.bits / 8));
    info.file_bytes += file.bytes;
  }
  info.extra_bytes =
      h.rows * h.columns * (2 * pixel_bytes + 8) + (volume.upright ? 4 * voxels_of(geometry_of(series.grid)) : 0);
  info.compressed = h.compressed;
  info.problem = series.problem, info.problem_code = series.problem_code;
  info.readable = series.problem.empty();
  info.warning = series.warning, info.unit = series.unit;
  return info;
}

std::vector<fs::path> files_of_series(const fs::path& path) {
  const DicomVolume volume = open_volume(path, IrregularSlices::kReject);
  if (volume.segmentation) return {path};
  std::vector<fs::path> files;
  for (const DicomFile& file : volume.series.files) files.push_back(file.path);
  return files;
}

float image_value(const fs::path& path, double value) {
  const auto hu = static_cast<float>(value);
  if (!std::isfinite(hu))
    throw input_error(path, "has voxels beyond 32-bit floats", "check its RescaleSlope and RescaleIntercept");
  return hu;
}

/// Labels pass through f32, which holds whole numbers up to 2^24.
float label_value(const fs::path& path, double value) {
  constexpr double kMost = 1 << 24;
  if (std::floor(value) != value || std::abs(value) > kMost)
    throw input_error(path, "has voxels that are not integers, or beyond 2^24",
                      "a label map holds small whole numbers: is this the image?");
  return static_cast<float>(value);
}

/// Returns the slices as they are, (slices, rows, columns) f32.
Tensor read_stack(const DicomSeries& series, const fs::path& path, bool label) {
  std::optional<Tensor> stack;
  // Nothing is allocated before the first file was decoded: a header alone may promise any size.
  read_dicom_slices(series, [&](std::size_t z, std::span<const double> values) {
    if (!stack) stack.emplace(DType::kF32, geometry_of(series.grid).shape());
    float* out = stack->as<float>() + z * values.size();
    for (const double value : values) *out++ = label ? label_value(path, value) : image_value(path, value);
  });
  return std::move(*stack);
}

Volume read_segmentation_volume(const DicomSegmentation& seg, double least_fraction) {
  if (!seg.problem.empty())
    throw Error(ErrorKind::kInput, seg.problem_code, "[input] " + seg.header.file.string() + ": " + seg.problem);
  const Geometry geometry = geometry_of(seg.grid);
  Volume volume{geometry, Tensor(DType::kF32, geometry.shape())};
  read_segmentation(seg, std::span(volume.voxels.as<float>(), static_cast<std::size_t>(volume.voxels.count())),
                    {.least_fraction = least_fraction});
  return volume;
}

Volume read_series(const fs::path& path, DType dtype, IrregularSlices irregular, double least_fraction) {
  const bool label = dtype == DType::kI32;
  const DicomVolume from = open_volume(path, irregular);
  Volume volume = from.segmentation ? read_segmentation_volume(*from.segmentation, least_fraction)
                                    : Volume{geometry_of(from.grid()), read_stack(from.series, path, label)};
  if (from.upright) {
    Tensor voxels(DType::kF32, volume.geometry.shape());
    const auto span_of = [](Tensor& t) { return std::span(t.as<float>(), static_cast<std::size_t>(t.count())); };
    resample_slices(from.series, span_of(volume.voxels), *from.upright,
                    label ? SliceSampling::kNearest : SliceSampling::kLinear, span_of(voxels));
    volume.voxels = std::move(voxels);
  }
  if (!label) return volume;
  Tensor labels(DType::kI32, volume.geometry.shape());
  std::transform(volume.voxels.as<float>(), volume.voxels.as<float>() + labels.count(), labels.as<std::int32_t>(),
                 [](float value) { return static_cast<std::int32_t>(value); });
  return {volume.geometry, std::move(labels)};
}

}  // namespace

std::string series_id(const DicomSeries& series) {
  std::string modality = series.common.modality;
  const bool plain = !modality.empty() && modality.size() <= 4 &&
                     std::all_of(modality.begin(), modality.end(), [](unsigned char c) { return std::isalpha(c); });
  std::transform(modality.begin(), modality.end(), modality.begin(), [](unsigned char c) { return std::tolower(c); });
  return (plain ? modality : "series") + "_" + series.key;
}

std::map<std::string, std::string> better_series(const DicomFolder& folder) {
  std::map<std::string, std::string> texts;
  const std::vector<std::size_t> best = best_of_their_scans(folder);
  for (std::size_t i = 0; i < folder.series.size(); ++i) {
    if (best[i] == i) continue;
    const DicomSeries &series = folder.series[i], &better = folder.series[best[i]];
    const bool by_labels =
        folder.labelled.contains(better.common.series) && !folder.labelled.contains(series.common.series);
    texts[series_id(series)] = series_id(better) + " (" + (by_labels ? "which labels refer to, " : "") +
                               reconstruction_text(better) + ", in place of " + reconstruction_text(series) + ")";
  }
  return texts;
}

std::string chosen_series_text(std::size_t count, const std::string& id) {
  return "W_SERIES it holds " + std::to_string(count) +
         " reconstructions of one scan; the one that labels refer to, else the thinnest with the softest kernel was "
         "taken: " +
         id;
}

fs::path series_address(const DicomSeries& series) {
  return series.folder / (std::string(kSeriesMark) + series_id(series));
}

ImageReference image_reference(const fs::path& path) {
  if (!is_dicom(path)) return {};
  const DicomVolume volume = open_volume(path, IrregularSlices::kReject);
  const DicomHeader& h = volume.segmentation ? volume.segmentation->header : volume.series.common;
  return {.series_uid = h.series, .frame_of_reference_uid = h.frame_of_reference};
}

std::optional<DicomSeries> dicom_series_of(const fs::path& path) {
  if (!is_dicom(path)) return std::nullopt;
  DicomVolume volume = open_volume(path, IrregularSlices::kReject);
  return volume.segmentation ? std::nullopt : std::optional(std::move(volume.series));
}

VolumeFormat dicom_format(IrregularSlices irregular, double least_fraction) {
  return {
      .name = "DICOM",
      .endings = {},
      .expected =
          "a DICOM file (an image or a segmentation), a folder with the files of one series, or FOLDER/#series=ID "
          "as info lists them",
      .matches = is_dicom,
      .read_header = [=](const fs::path& path) { return read_series_info(path, irregular); },
      .read = [=](const fs::path& path, DType dtype) { return read_series(path, dtype, irregular, least_fraction); },
      .write = nullptr,
      .check =
          [=](const fs::path& path) {
            const DicomVolume volume = open_volume(path, irregular);
            if (volume.segmentation)
              static_cast<void>(read_segmentation_volume(*volume.segmentation, least_fraction));
            else
              read_dicom_slices(volume.series, [](std::size_t, std::span<const double>) {});
          },
      .find = find_series,
      .address_id = id_in,
      .files = files_of_series,
      .within = [=](const VolumeLimits& limits) { return dicom_format(irregular, limits.least_fraction); }};
}

}  // namespace voxshard
