#include "io/dicom/dicom_library.h"

#include <dcmtk/config/osconfig.h>  // before all other headers of DCMTK

#include <dcmtk/oflog/oflog.h>

namespace voxshard {

DicomLibrary::DicomLibrary() {
  static const bool kQuiet = [] {
    OFLog::configure(OFLogger::OFF_LOG_LEVEL);
    return true;
  }();
  static_cast<void>(kQuiet);
}

}  // namespace voxshard
