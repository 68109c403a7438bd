// What all objects that are written have in common: who made them, their UIDs and dates, what they take over from the
// series, and that they appear whole or not at all. For the sources of this folder only.
//
//   DcmFileFormat file;
//   finish_object(*file.getDataset(), source, {.instance = uid, .series = series_uid, .modality = "SEG", ...});
//   write_object(path, file, EXS_LittleEndianExplicit);
#pragma once

#include <filesystem>
#include <string>

#include "io/dicom_out/source_series.h"

class DcmFileFormat;
class DcmItem;
class DcmTagKey;
class OFCondition;

namespace voxshard {

struct CodedTerm;

inline constexpr const char* kMaker = "voxshard";
/// The text in the descriptions of all objects.
inline constexpr const char* kNotForDiagnosis = "Made by a program. Not for diagnostic use.";

struct ObjectNames {
  std::string sop_class;
  std::string instance, series;    // UIDs
  const char* modality = "";       // "SEG"
  const char* series_number = "";  // tells the series of voxshard apart in a viewer
  std::string description = {};    // of the series
};

/// Sets a text. Errors: kInput when DCMTK does not take it.
void put(DcmItem& set, const DcmTagKey& tag, const std::string& value);
/// Appends an item to a sequence, which is made when it is missing.
DcmItem& add_item(DcmItem& set, const DcmTagKey& sequence);
/// Appends an item with a code to a sequence.
void add_code(DcmItem& set, const DcmTagKey& sequence, const CodedTerm& term);

/// Sets what all objects have, and takes away dates and times of the clock: the same label map gives the same bytes.
void finish_object(DcmItem& set, const SourceSeries& source, const ObjectNames& names);

/// Appends the items of all files of the series to a sequence of references.
void refer_to_instances(DcmItem& set, const DcmTagKey& sequence, const SourceSeries& source);

/// Throws kInput unless DCMTK took what it was given: headers may hold what the standard does not allow.
///   what  "the patient": what it did not take
void require_good(const OFCondition& condition, const char* what);

/// Writes a file atomically.
///   implicit  without types of values: texts may then be longer than 64 KiB; else with them
/// Errors: kOutput.
void write_object(const std::filesystem::path& path, DcmFileFormat& file, bool implicit);

/// Returns a decimal number of at most 16 characters, as precise as these allow. Requires a finite one below 1e9.
std::string decimal_text(double value);
/// "0.5\0.5", with backslashes between the numbers.
std::string decimals_text(const double* values, std::size_t count);

/// Returns a name as a text of at most 64 characters on one line, without backslashes. Characters beyond ASCII become
/// question marks unless the texts of the series are UTF-8: in their character set the same bytes mean something else.
std::string short_text(const std::string& name, bool is_utf8);
/// The same of a sentence, of at most 1024 characters.
std::string long_text(const std::string& sentence, bool is_utf8);

}  // namespace voxshard
