// Reads the header of a DICOM file: what says where its slices lie, how their stored values become Hounsfield units,
// and which series it belongs to. Pixels are not read, and no text of a patient or an institution is kept.
//
//   if (looks_like_dicom(path)) {
//     DicomHeader h = read_dicom_header(path);
//     h.frames[0].position        // {-118.4, -250.1, 42.5}, mm in DICOM's LPS world; none when the file has none
//   }
//
// Called by dicom_series.h.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/dicom/suv.h"

namespace voxshard {

/// How the stored values of an enhanced PET become numbers with a unit (0040,9096).
struct RealWorldValues {
  double slope = 1, intercept = 0;
  std::string unit;  // UCUM: "Bq/ml", "g/ml{SUVbw}"
};

/// One slice of a file. A classic file has one; an enhanced file has one for each frame.
struct DicomFrame {
  std::optional<std::array<double, 3>> position;     // centre of the first voxel, mm, LPS (0020,0032)
  std::optional<std::array<double, 6>> orientation;  // unit vectors along a row and along a column (0020,0037)
  std::optional<std::array<double, 2>> spacing;      // mm between rows, mm between columns (0028,0030)
  std::optional<double> slope, intercept;            // of stored values to HU (0028,1053), (0028,1052)
  int segment = 0;                                   // of a segmentation: the number of its segment; 0: none
  std::optional<RealWorldValues> values;             // of an enhanced PET; they come before slope and intercept
  std::string rescale_type = {};                     // unit of rescaled values: "HU"; empty where it is not said
  std::int64_t temporal_position = 0;                // of images at several times: its number (0020,0100); 0: none
};

/// A class of a DICOM segmentation.
struct DicomSegment {
  int number = 0;
  std::string label;  // plain UTF-8
  std::string type;   // meaning of its property: "Liver"; may be empty
};

struct DicomHeader {
  std::filesystem::path file;
  bool whole = true;                                   // false: the file is cut or damaged behind what could be read
  std::string sop_class, sop_instance, study, series;  // UIDs; empty where the file has none
  std::string frame_of_reference;                      // UID of the coordinates; empty where the file has none
  std::string modality;                                // "CT"
  std::string kind;                                    // third value of the image type: "AXIAL", "LOCALIZER"
  std::string kernel;                                  // of the reconstruction
  std::string body_part = {};                          // term for the part of the body, "CHEST"; for rules alone
  std::string acquisition;                             // number of the acquisition
  std::optional<double> acquired_s = {};               // when it was scanned, for comparing; never printed
  std::optional<double> thickness_mm;                  // of a slice
  std::int64_t rows = 0, columns = 0;                  // pixels; 0 in objects without an image
  int samples = 1;                                     // numbers per pixel: 3 for colour
  std::string colours;                                 // photometric interpretation: "MONOCHROME2"
  int bits = 0;                                        // of a stored value, as allocated
  bool is_signed = false;
  std::optional<std::array<std::int64_t, 2>> padding = {};  // stored values, from the lowest to the highest, of pixels
                                                            // outside of the field of view
  std::optional<double>
      step_mm;               // from slice to slice, as the file says it; of segmentations that leave out empty slices
  std::string segmentation;  // its type, "BINARY", "FRACTIONAL" or "LABELMAP"; empty for an image
  int most_fraction = 255;   // value that stands for 1 in a fractional one
  bool may_overlap = false;  // segments may share voxels
  std::vector<DicomSegment> segments;
  std::string referenced_series;  // UID of the image that a segmentation or structure set was made on; empty for none,
                                  // or several
  bool compressed = false;        // the transfer syntax encodes pixels in less than their bits
  std::int64_t file_bytes = 0;    // on disk
  std::int64_t pixel_begin =
      -1;  // offset of the pixels, the file's end where there are none; -1: the data set is deflated
  std::vector<DicomFrame> frames;     // at least one
  std::optional<PetHeader> pet = {};  // of a PET; its numbers are never printed
  bool burned_in = false;             // the file says that text is burned into its pixels
  bool shows_face = false;  // a CT or MR of a part of the body that has a face, or one that says that it shows one
  /// Tells files of one patient from those of others: a hash of PatientID (0010,0020) with a secret that this process
  /// draws at random. It leads nowhere outside of the process and is never stored; 0: the file names no patient.
  std::uint64_t patient_key = 0;
};

/// True for a frame of a CT whose rescaled values are Hounsfield units, as far as the file says.
bool is_in_hounsfield_units(const DicomHeader& header, const DicomFrame& frame);

/// The most frames that a file may have.
inline constexpr std::int64_t kMostDicomFrames = 65535;

/// True for a file that begins as DICOM does. Files without the preamble are recognised by a name that ends in .dcm or
/// .ima, or has no ending, and by a first element that every data set may begin with. Reads 140 bytes.
bool looks_like_dicom(const std::filesystem::path& path);
/// The same, from the first 140 bytes of a file and the ending of its name.
bool begins_like_dicom(std::string_view begin, std::string ending);

/// Errors: kInput names the file that cannot be opened, is no DICOM at all, or has an impossible number of frames. A
/// file that is cut gives what could be read.
DicomHeader read_dicom_header(const std::filesystem::path& path);

}  // namespace voxshard
