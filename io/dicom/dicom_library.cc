#include "io/dicom/dicom_library.h"

#include <gdcmTrace.h>

namespace voxshard {

DicomLibrary::DicomLibrary() {
  static const bool kQuiet = [] {
    gdcm::Trace::DebugOff();
    gdcm::Trace::WarningOff();
    gdcm::Trace::ErrorOff();
    return true;
  }();
  static_cast<void>(kQuiet);
}

}  // namespace voxshard
