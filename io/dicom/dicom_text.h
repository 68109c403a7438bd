// Texts of DICOM files, whose bytes mean what the file's SpecificCharacterSet says, as UTF-8.
//
//   plain_dicom_text("Gl\xe4ndula", "ISO_IR 100")      // "Gländula"
#pragma once

#include <string>

namespace voxshard {

/// Returns `text` in UTF-8 and as plain_text() shows it. Bytes that are not valid in the character set, or of a set
/// that is not known, stay as they are where they are UTF-8 already, and are escaped elsewhere. Sets with escape
/// sequences (ISO 2022), those of Japan, Korea and China too, are known.
///   character_set  values of (0008,0005), with backslashes between them; empty: ASCII
std::string plain_dicom_text(const std::string& text, const std::string& character_set);

}  // namespace voxshard
