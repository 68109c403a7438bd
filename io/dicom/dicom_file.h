// Opens a DICOM file through DCMTK, for the sources of io/dicom and io/dicom_out only: the header of DCMTK is a heavy
// one.
//
//   const OpenDicom open = open_dicom(path, 4096);
//   open.file->getDataset()
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

class DcmFileFormat;

namespace voxshard {

struct CloseDicom {
  void operator()(DcmFileFormat* file) const;
};
struct OpenDicom {
  std::unique_ptr<DcmFileFormat, CloseDicom> file;
  bool whole = true;  // false: the file ends within an element, or is damaged there
};

/// Parses a file, with or without its preamble, as far as it goes. Values of more than `most_loaded` bytes stay on disk
/// until they are asked for. Errors: kInput for a file that cannot be opened or is no DICOM; E_LIMIT for
/// sequences that nest too deep.
///   end_tag  (group << 16 | element) of the first element that is not parsed
OpenDicom open_dicom(const std::filesystem::path& path, std::uint32_t most_loaded, std::uint32_t end_tag = 0xFFFFFFFF);

}  // namespace voxshard
