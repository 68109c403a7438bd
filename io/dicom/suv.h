// The standardized uptake value (SUV) of a PET series: the factor by which its values, Bq/ml, become grams of body
// weight per millilitre. It needs weight, dose, half-life and the times of injection and scan from the headers.
//
//   const SuvScale scale = suv_scale(headers);     // of all files of a series
//   if (scale.lacks.empty()) suv = scale.factor * bq_per_ml;
//   else say(scale.lacks);                         // "PatientWeight, RadionuclideTotalDose"
//
// Called by dicom_series.cc. The numbers of a patient are for computing alone: nothing prints them.
#pragma once

#include <optional>
#include <span>
#include <string>

namespace voxshard {

/// The facts in the header of a PET file about its values. Times are seconds since 1970 by the clock of the scanner.
struct PetHeader {
  std::string units;                                      // (0054,1001): "BQML", "CNTS", "GML"
  std::string suv_type;                                   // (0054,1006): "BW"; empty: not said
  std::string decay_correction;                           // (0054,1102): "START", "ADMIN", "NONE"
  std::string corrections;                                // (0028,0051), with backslashes: "DECY\ATTN\SCAT"
  std::optional<double> weight_kg, dose_bq, half_life_s;  // (0010,1030), (0018,1074), (0018,1075)
  std::optional<double> series_s, acquisition_s;          // (0008,0021) with (0008,0031), (0008,0022) with (0008,0032)
  std::optional<double> injected_s;                       // (0018,1078), with its date
  std::optional<double> injected_of_day_s;                // (0018,1072), since midnight
  std::optional<double> private_scan_s;                   // GE's start of the scan, (0009,xx0d) of GEMS_PETD_01
  std::optional<double> private_suv, private_bqml;        // Philips' factors, (7053,xx00) and (7053,xx09)
};

struct SuvScale {
  double factor = 1;       // of the values after slope and intercept; 1 when something is lacking
  std::string lacks = {};  // what is missing or does not fit, by the names of DICOM; empty: the values become SUV
};

/// Returns the factor of a series:
///
///   SUV = value x weight / dose at the scan,    dose at the scan = injected dose x 2^(-(scan - injection) / half-life)
///
/// with the weight in grams and the dose in Bq. Images whose decay correction is to the administration (ADMIN) take the
/// injected dose as it is. The scan begins with the series, unless the series is later than its first acquisition, as
/// derived ones are; then with GE's own element, else with the earliest acquisition. An injection later than the scan
/// by the clock was on the day before. Units of GML are SUV already; counts take Philips' factors. Files that differ in
/// these numbers give no factor. Source: QIBA, SUV vendor-neutral pseudo-code (happy path), https://qibawiki.rsna.org.
///   headers  of all files, at least one
SuvScale suv_scale(std::span<const PetHeader> headers);

/// Parse DICOM's dates and times, "20240131" and "093015.25", into seconds since 1970, or since midnight for a time
/// alone; none for other texts. A zone behind a date with time is passed over: only differences count.
std::optional<double> seconds_of_day(const std::string& time);
std::optional<double> seconds_of(const std::string& date, const std::string& time);
std::optional<double> seconds_of_date_time(const std::string& date_time);

}  // namespace voxshard
