// Zip and tar archives as a row of the table of volume formats: an archive is read like the folder that was packed. Its
// volumes have addresses, as those of a folder of DICOM files.
//
//   read_image("study.zip")                              // the only volume in it
//   read_image("study.zip/#series=ct_77dddbdf335a")      // a DICOM series
//   read_image("study.zip/#volume=volume_99aa06d30147")  // a NIfTI, NRRD or MetaImage file, by a hash of its content
//
// Files are unpacked under numbers to a private folder (io/archive); their names become no paths and stand in no
// message.
#pragma once

#include <memory>

#include "io/archive/unpacked_archive.h"
#include "io/dicom/dicom_series.h"
#include "io/volume/dicom.h"
#include "io/volume/volume.h"

namespace voxshard {

/// Reads the volumes of an archive through the formats of `inner`; volumes of several files (.hdr, .nhdr, .mhd) are
/// left out. A volume that holds several channels has addresses for them, as a file does: "#volume=ID#channel=0of2".
/// Errors in addition to those of `inner`: kInput E_ARCHIVE; E_SERIES for an archive with several volumes, or none,
/// where one is wanted; E_SIZE beyond limits.most_inflation.
VolumeFormat archive_format(std::vector<VolumeFormat> inner, const VolumeLimits& limits = {});

/// Returns the archives in a folder and the folders in it, sorted; hidden ones are passed over, and links to folders
/// not followed. Errors: kInput for more files than `walk` allows.
std::vector<std::filesystem::path> archives_below(const std::filesystem::path& folder, const DicomWalk& walk = {});

/// A file of an archive that is no volume, by a hash of its content: "study.zip/#file=77dddbdf335a".
std::filesystem::path archived_file_address(const std::filesystem::path& archive, const std::string& hash);

/// Returns the archive of such an address; every other path as it is.
std::filesystem::path containing_file(const std::filesystem::path& path);

/// A file to open, also one of an archive, which is unpacked for as long as this lives.
class OpenedFile {
 public:
  /// Errors: kInput E_ARCHIVE; E_MISSING when the archive has no such file any more.
  explicit OpenedFile(const std::filesystem::path& path, const VolumeLimits& limits = {});
  const std::filesystem::path& path() const { return path_; }
  /// Returns body(path()); errors name the archive in place of the private folder.
  template <class Body>
  auto read(Body body) const {
    try {
      return body(path_);
    } catch (const Error& e) {
      throw Error(e.kind(), e.code(), text_outside(e.what()));
    }
  }

 private:
  std::string text_outside(const std::string& text) const;
  std::shared_ptr<const UnpackedArchive> archive_;
  std::filesystem::path path_;
};

/// The DICOM files of an archive, unpacked for as long as this is held.
struct ArchivedStudy {
  std::shared_ptr<const UnpackedArchive> unpacked;
  std::shared_ptr<const DicomFolder> found;  // with paths in the private folder
  std::size_t others = 0;                    // volumes that are no DICOM files
};
/// Returns the UIDs of an image, as image_reference() does, also for a series of an archive. Errors: kInput E_ARCHIVE.
ImageReference reference_of_image(const std::filesystem::path& path, const VolumeLimits& limits = {});

/// A DICOM series, with the files of an archive unpacked for as long as this is held.
struct OpenedSeries {
  std::shared_ptr<const UnpackedArchive> unpacked;
  DicomSeries series;
};
/// Returns the series of an image, as dicom_series_of() does, also of an archive. Errors: kInput E_ARCHIVE.
std::optional<OpenedSeries> open_series(const std::filesystem::path& path, const VolumeLimits& limits = {});

/// Errors: kInput E_ARCHIVE.
ArchivedStudy read_archived_study(const std::filesystem::path& archive, const VolumeLimits& limits = {});

}  // namespace voxshard
