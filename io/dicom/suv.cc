#include "io/dicom/suv.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace voxshard {
namespace {

constexpr double kDaySeconds = 86400;
/// The plausible ranges of a body, a dose and a nuclide; a dose below its range is one in MBq.
constexpr std::pair<double, double> kWeightsKg{1e-3, 1e3}, kDosesBq{1e5, 1e12}, kHalfLivesSeconds{1, 1e9};
/// After this many half-lives nothing is left to be measured: the times are of other days.
constexpr double kMostHalfLives = 20;

bool within(const std::optional<double>& value, const std::pair<double, double>& range) {
  return value && *value >= range.first && *value <= range.second;
}

/// Returns the number in `count` digits at `at`; none for other characters.
std::optional<int> digits(std::string_view text, std::size_t at, std::size_t count) {
  if (text.size() < at + count) return std::nullopt;
  int number = 0;
  const char *begin = text.data() + at, *end = begin + count;
  const auto [stop, error] = std::from_chars(begin, end, number);
  if (error != std::errc() || stop != end || *begin == '-') return std::nullopt;
  return number;
}

bool has_correction(const std::string& corrections, const std::string& name) {
  return ("\\" + corrections + "\\").find("\\" + name + "\\") != std::string::npos;
}

/// Returns the start of the scan, to which images are corrected for decay.
std::optional<double> scan_seconds(std::span<const PetHeader> headers) {
  const PetHeader& first = headers.front();
  std::optional<double> acquired;
  for (const PetHeader& one : headers)
    if (one.acquisition_s) acquired = std::min(acquired.value_or(*one.acquisition_s), *one.acquisition_s);
  if (first.series_s && (!acquired || *first.series_s <= *acquired)) return first.series_s;
  return first.private_scan_s ? first.private_scan_s : acquired;
}

/// Returns the seconds from the injection to the scan; none when the times are missing or do not fit.
std::optional<double> decay_seconds(const PetHeader& header, double scan_s, double half_life_s) {
  std::vector<double> since;
  if (header.injected_s) since.push_back(scan_s - *header.injected_s);
  if (header.injected_of_day_s) {
    const double of_day = scan_s - std::floor(scan_s / kDaySeconds) * kDaySeconds - *header.injected_of_day_s;
    since.push_back(of_day < 0 ? of_day + kDaySeconds : of_day);
  }
  for (const double seconds : since)
    if (seconds >= 0 && seconds <= kMostHalfLives * half_life_s) return seconds;
  return std::nullopt;
}

/// True when two files of a series give the same factor.
bool are_alike(const PetHeader& a, const PetHeader& b) {
  const auto key = [](const PetHeader& h) {
    return std::tie(h.units, h.suv_type, h.decay_correction, h.corrections, h.weight_kg, h.dose_bq, h.half_life_s,
                    h.series_s, h.injected_s, h.injected_of_day_s, h.private_suv, h.private_bqml);
  };
  return key(a) == key(b);
}

SuvScale from_activity(std::span<const PetHeader> headers, double bqml) {
  const PetHeader& h = headers.front();
  std::vector<std::string> lacks;
  if (!has_correction(h.corrections, "ATTN") || !has_correction(h.corrections, "DECY"))
    lacks.emplace_back("CorrectedImage with ATTN and DECY");
  const bool to_scan = h.decay_correction == "START";
  if (!to_scan && h.decay_correction != "ADMIN") lacks.emplace_back("DecayCorrection START or ADMIN");
  if (!within(h.weight_kg, kWeightsKg)) lacks.emplace_back("PatientWeight");
  if (!within(h.dose_bq, kDosesBq)) lacks.emplace_back("RadionuclideTotalDose in Bq");
  double left = 1;  // of the dose at the scan
  if (to_scan && !within(h.half_life_s, kHalfLivesSeconds)) {
    lacks.emplace_back("RadionuclideHalfLife");
  } else if (to_scan) {
    const auto scan = scan_seconds(headers);
    const auto decay = scan ? decay_seconds(h, *scan, *h.half_life_s) : std::nullopt;
    if (!scan)
      lacks.emplace_back("SeriesDate and SeriesTime");
    else if (!decay)
      lacks.emplace_back("a RadiopharmaceuticalStartTime that fits the scan");
    else
      left = std::exp2(-*decay / *h.half_life_s);
  }
  SuvScale scale;
  for (const std::string& one : lacks) scale.lacks += (scale.lacks.empty() ? "" : ", ") + one;
  if (lacks.empty()) scale.factor = bqml * 1000 * *h.weight_kg / (*h.dose_bq * left);
  return scale;
}

}  // namespace

SuvScale suv_scale(std::span<const PetHeader> headers) {
  const PetHeader& first = headers.front();
  constexpr std::pair<double, double> kFactors{1e-12, 1e12};
  const auto is_other = [&](const PetHeader& one) { return !are_alike(first, one); };
  if (std::any_of(headers.begin(), headers.end(), is_other))
    return {.lacks = "the same units, weight, dose and times in all of its files"};
  if (first.units == "GML") {
    const bool by_weight = first.suv_type.empty() || first.suv_type == "BW";
    return {.lacks = by_weight ? "" : "SUVType BW"};
  }
  if (first.units == "BQML") return from_activity(headers, 1);
  if (first.units == "CNTS" && within(first.private_suv, kFactors)) return {.factor = *first.private_suv};
  if (first.units == "CNTS" && within(first.private_bqml, kFactors)) return from_activity(headers, *first.private_bqml);
  return {.lacks = "Units BQML or GML"};
}

std::optional<double> seconds_of_day(const std::string& time) {
  const auto hours = digits(time, 0, 2), minutes = digits(time, 2, 2), seconds = digits(time, 4, 2);
  if (!hours || !minutes || !seconds || *hours > 23 || *minutes > 59 || *seconds > 60) return std::nullopt;
  double fraction = 0;
  if (time.size() > 6 && time[6] == '.') {
    double place = 0.1;
    for (std::size_t i = 7; i < time.size() && time[i] >= '0' && time[i] <= '9'; ++i, place /= 10)
      fraction += place * (time[i] - '0');
  }
  return 3600.0 * *hours + 60.0 * *minutes + *seconds + fraction;
}

std::optional<double> seconds_of(const std::string& date, const std::string& time) {
  const auto year = digits(date, 0, 4), month = digits(date, 4, 2), day = digits(date, 6, 2);
  const auto of_day = seconds_of_day(time);
  if (!year || !month || !day || date.size() != 8 || !of_day) return std::nullopt;
  const std::chrono::year_month_day when{std::chrono::year(*year), std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!when.ok()) return std::nullopt;
  return kDaySeconds * static_cast<double>(std::chrono::sys_days(when).time_since_epoch().count()) + *of_day;
}

std::optional<double> seconds_of_date_time(const std::string& date_time) {
  if (date_time.size() < 14) return std::nullopt;
  return seconds_of(date_time.substr(0, 8), date_time.substr(8));
}

}  // namespace voxshard
