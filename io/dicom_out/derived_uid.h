// UIDs that are made from what an object is made of, so that the same input and the same run give the same object.
//
//   derived_uid("segmentation of " + key)       // "2.25.113005930246846..."
#pragma once

#include <string>
#include <string_view>

namespace voxshard {

/// Returns the UID of a UUID (DICOM PS3.5 B.2) whose 122 free bits are a hash of the text, as version 8 of RFC 9562 has
/// it: the same text gives the same UID.
///   returns  "2.25." and a decimal number, 44 characters at most
std::string derived_uid(std::string_view text);

}  // namespace voxshard
