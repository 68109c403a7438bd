#include "io/dicom/dicom_library.h"

#include <dcmtk/config/osconfig.h>  // before all other headers of DCMTK

#include <dcmtk/oflog/oflog.h>
#include <gdcmTrace.h>

namespace voxshard {

DicomLibrary::DicomLibrary() {
  static const bool kQuiet = [] {
    OFLog::configure(OFLogger::OFF_LOG_LEVEL);
    gdcm::Trace::DebugOff();
    gdcm::Trace::WarningOff();
    gdcm::Trace::ErrorOff();
    return true;
  }();
  static_cast<void>(kQuiet);
}

}  // namespace voxshard
