// DICOM as a row of the table of volume formats: a file with one or more slices, or a series in a folder. A series is
// addressed by the folder that holds its files and its id, as if it were a file there; a folder with one series stands
// for it, and so does one whose series are reconstructions of one scan: the best of them (io/dicom/same_scan.h).
//
//   read_image("study/#series=ct_77dddbdf335a")      // one of several series below study
//   read_image("study/ct")                           // the only one there
//   find_volumes("study")                             // the addresses of all series, and what was left out
//
// Ids are made from UIDs by a hash: no name of a patient, a file or a folder is in them.
#pragma once

#include "io/dicom/dicom_series.h"
#include "io/volume/volume.h"

namespace voxshard {

/// The UIDs by which structures refer to an image; empty where it has none. They are for comparing, never printed.
struct ImageReference {
  std::string series_uid, frame_of_reference_uid;
};
/// Returns those of a DICOM series, as read_image takes it; none for other paths and formats. Errors: kInput as
/// read_volume_info.
ImageReference image_reference(const std::filesystem::path& path);
/// Returns the series of a path as its files hold it, whatever is resampled where it is read; none for segmentations,
/// other paths and formats. Errors: kInput as read_volume_info.
std::optional<DicomSeries> dicom_series_of(const std::filesystem::path& path);

/// Reads series through io/dicom, slope and intercept of each slice applied; writes nothing.
/// Errors in addition to those of io/volume/volume.h, all kInput: E_SERIES for a folder with several series, unless all
/// are reconstructions of one scan (W_SERIES says which was taken; the message lists their addresses), and those of
/// place_series (io/dicom/dicom_grid.h) for series that are no regular volume.
///   irregular  kResample reads series with E_GAP, E_IRREGULAR and E_TILT on an upright regular grid
///   (series_resample.h), and with E_DOUBLED where the doubled slices are equal (doubled_slices.h)
///   least_fraction  as in VolumeLimits
VolumeFormat dicom_format(IrregularSlices irregular = IrregularSlices::kReject, double least_fraction = kLeastFraction);

/// Returns for each series that another one stands for (io/dicom/same_scan.h), by id, that one's id and why, as
/// FoundVolume::better has it.
std::map<std::string, std::string> better_series(const DicomFolder& folder);

/// Returns "W_SERIES ..." about a folder or an archive with so many reconstructions of one scan, which the series with
/// this id stands for.
std::string chosen_series_text(std::size_t count, const std::string& id);

/// Returns the id of a series, "ct_77dddbdf335a", and its address, the folder of its files with "#series=" and the id.
std::string series_id(const DicomSeries& series);
std::filesystem::path series_address(const DicomSeries& series);

}  // namespace voxshard
