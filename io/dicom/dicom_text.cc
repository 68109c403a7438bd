#include "io/dicom/dicom_text.h"

#include <dcmtk/config/osconfig.h>  // before all other headers of DCMTK

#include <dcmtk/dcmdata/dcspchrs.h>

#include <algorithm>

#include "io/dicom/dicom_library.h"
#include "libcore/base/plain_text.h"

namespace voxshard {

std::string plain_dicom_text(const std::string& text, const std::string& character_set) {
  const bool ascii = std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
  if (ascii) return text;
  const DicomLibrary library;
  DcmSpecificCharacterSet set;
  OFString converted;
  const bool known = set.selectCharacterSet(character_set.c_str(), "ISO_IR 192").good() &&
                     set.convertString(text.c_str(), converted, "\\").good();
  return plain_text(known ? std::string(converted.c_str()) : text);
}

}  // namespace voxshard
