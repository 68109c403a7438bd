// The patient to whom a case belongs, as far as its id says so, to find patients who are in two parts of a data set.
//
//   patient_of("sub-012_ses-2")     // "sub-012"
//   patient_of("pt_012_followup")   // "pt_012"
//   patient_of("liver_03")          // "liver_03": each case counts as a patient of its own
#pragma once

#include <string>

namespace voxshard {

/// Returns the part of an id up to the number behind sub, subject, pt, pat or patient, in upper or lower case ("sub" as
/// in BIDS); the whole id when it has no such part.
std::string patient_of(const std::string& id);

}  // namespace voxshard
