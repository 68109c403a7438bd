#include "io/dicom/dicom_file.h"

#include <dcmtk/config/osconfig.h>  // before all other headers of DCMTK

#include <dcmtk/dcmdata/dcistrmf.h>
#include <dcmtk/dcmdata/dctk.h>

#include "io/dicom/dicom_library.h"
#include "io/files/file_error.h"
#include "io/files/open_file.h"

namespace voxshard {

void CloseDicom::operator()(DcmFileFormat* file) const { delete file; }

OpenDicom open_dicom(const std::filesystem::path& path, std::uint32_t most_loaded) {
  const DicomLibrary library;
  require_regular_file(path);
  OpenDicom open{decltype(open.file)(new DcmFileFormat)};
  DcmInputFileStream in(path.c_str());
  open.file->transferInit();
  open.whole = in.good() && open.file->read(in, EXS_Unknown, EGL_noChange, most_loaded).good();
  open.file->transferEnd();
  if (open.file->getDataset()->card() == 0)
    throw input_error(path, "cannot be read as DICOM", "copy or export the file again");
  return open;
}

}  // namespace voxshard
