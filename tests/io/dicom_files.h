// DICOM files built element by element (explicit VR, little endian), so that what is read does not depend on a library
// that writes.
//
//   write_bytes(dir.path() / "1.dcm", dicom_bytes({.position = {0, 0, 5}}, {1, 2, 3, 4}));
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

namespace voxshard {

/// What a PET has beside an image: 74 kg and 370 MBq, of which half is left when the scan begins an hour later.
struct PetSpec {
  std::string units = "BQML", decay_correction = "START", corrections = "DECY\\ATTN\\SCAT";
  std::string weight_kg = "74", dose_bq = "370000000", half_life_s = "3600";
  std::string injected = "100000", injected_with_date = "";
  std::string series_date = "20240131", series_time = "110000";
  std::string acquisition_date = "20240131", acquisition_time = "110000.000";
};

struct DicomSpec {
  std::string sop_class = "1.2.840.10008.5.1.4.1.1.2";  // CT image storage
  std::string instance = "1.2.3.1", study = "1.2.3", series = "1.2.3.4";
  std::string modality = "CT", image_type = "ORIGINAL\\PRIMARY\\AXIAL";
  std::string kernel = "SOFT", thickness = "9", acquisition = "1", patient = "Planted^Name";
  std::string institution = "", patient_id = "";  // left out when empty
  std::uint16_t rows = 2, columns = 2, samples = 1, bits = 16, is_signed = 1;
  std::optional<std::uint16_t> bits_stored = std::nullopt, high_bit = std::nullopt;  // else all, and the one above
  std::optional<std::uint16_t> overlay_bit = std::nullopt;                           // of the pixels
  std::string colours = "MONOCHROME2";
  std::optional<std::array<double, 3>> position = std::array<double, 3>{0, 0, 0};
  std::optional<std::array<double, 6>> orientation = std::array<double, 6>{1, 0, 0, 0, 1, 0};
  std::string pixel_spacing = "0.5\\0.75";  // between rows, between columns
  std::string slope = "1", intercept = "-1024";
  std::string frame_of_reference = "", rescale_type = "", temporal_position = "";  // left out when empty
  std::string body_part = "", burned_in = "", recognizable = "";                   // left out when empty
  std::optional<int> padding = std::nullopt, padding_limit = std::nullopt;         // stored values
  std::optional<PetSpec> pet = std::nullopt;
};

/// Appends elements in the order of their tags.
class DicomWriter {
 public:
  void text(std::uint16_t group, std::uint16_t element, const char* vr, std::string value) {
    if (value.size() % 2 == 1) value += std::strcmp(vr, "UI") == 0 ? '\0' : ' ';
    add(group, element, vr, value);
  }
  void number(std::uint16_t group, std::uint16_t element, std::uint16_t value, const char* vr = "US") {
    add(group, element, vr, {reinterpret_cast<const char*>(&value), 2});
  }
  /// The elements of another writer.
  void append(const std::string& elements) { bytes_ += elements; }
  void words(std::uint16_t group, std::uint16_t element, const std::string& value) {
    long_value(group, element, "OW", value);
  }
  /// A value of bytes that may be longer than 64 KiB; `vr` is "OB", "OW", "SQ" or "UN".
  void long_value(std::uint16_t group, std::uint16_t element, const char* vr, const std::string& value) {
    tag(group, element);
    bytes_ += vr + std::string(2, '\0');
    put(static_cast<std::uint32_t>(value.size()));
    bytes_ += value;
  }
  /// A sequence; each item is the bytes of another writer.
  void sequence(std::uint16_t group, std::uint16_t element, const std::vector<std::string>& items) {
    DicomWriter all;
    for (const std::string& item : items) {
      all.tag(0xfffe, 0xe000);
      all.put(static_cast<std::uint32_t>(item.size()));
      all.bytes_ += item;
    }
    long_value(group, element, "SQ", all.bytes_);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  template <class T>
  void put(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void tag(std::uint16_t group, std::uint16_t element) { put(group), put(element); }
  void add(std::uint16_t group, std::uint16_t element, const char* vr, const std::string& value) {
    tag(group, element);
    bytes_ += vr;
    put(static_cast<std::uint16_t>(value.size()));
    bytes_ += value;
  }
  std::string bytes_;
};

template <std::size_t N>
std::string decimals(const std::array<double, N>& values) {
  std::string text;
  for (const double value : values) {
    char one[32];
    std::snprintf(one, sizeof one, "%.10g", value);
    text += (text.empty() ? "" : "\\") + std::string(one);
  }
  return text;
}

/// The bytes of a file: preamble, meta elements with their length, data set.
inline std::string dicom_file(const std::string& meta, const std::string& data_set) {
  DicomWriter length;
  std::string size(4, '\0');
  const auto count = static_cast<std::uint32_t>(meta.size());
  std::memcpy(size.data(), &count, 4);
  length.text(0x0002, 0x0000, "UL", size);
  return std::string(128, '\0') + "DICM" + length.bytes() + meta + data_set;
}

/// The bytes of a file with one slice; `stored` are its pixels, row by row.
inline std::string dicom_bytes(const DicomSpec& s, const std::vector<std::int16_t>& stored) {
  DicomWriter meta;
  meta.text(0x0002, 0x0002, "UI", s.sop_class);
  meta.text(0x0002, 0x0003, "UI", s.instance);
  meta.text(0x0002, 0x0010, "UI", "1.2.840.10008.1.2.1");
  DicomWriter w;
  w.text(0x0008, 0x0008, "CS", s.image_type);
  w.text(0x0008, 0x0016, "UI", s.sop_class);
  w.text(0x0008, 0x0018, "UI", s.instance);
  if (s.pet) {
    w.text(0x0008, 0x0021, "DA", s.pet->series_date);
    w.text(0x0008, 0x0022, "DA", s.pet->acquisition_date);
    w.text(0x0008, 0x0031, "TM", s.pet->series_time);
    w.text(0x0008, 0x0032, "TM", s.pet->acquisition_time);
  }
  w.text(0x0008, 0x0060, "CS", s.modality);
  if (!s.institution.empty()) w.text(0x0008, 0x0080, "LO", s.institution);
  w.text(0x0010, 0x0010, "PN", s.patient);
  if (!s.patient_id.empty()) w.text(0x0010, 0x0020, "LO", s.patient_id);
  if (s.pet) w.text(0x0010, 0x1030, "DS", s.pet->weight_kg);
  if (!s.body_part.empty()) w.text(0x0018, 0x0015, "CS", s.body_part);
  w.text(0x0018, 0x0050, "DS", s.thickness);
  w.text(0x0018, 0x1210, "SH", s.kernel);
  w.text(0x0020, 0x000d, "UI", s.study);
  w.text(0x0020, 0x000e, "UI", s.series);
  w.text(0x0020, 0x0012, "IS", s.acquisition);
  if (s.position) w.text(0x0020, 0x0032, "DS", decimals(*s.position));
  if (s.orientation) w.text(0x0020, 0x0037, "DS", decimals(*s.orientation));
  if (!s.frame_of_reference.empty()) w.text(0x0020, 0x0052, "UI", s.frame_of_reference);
  if (!s.temporal_position.empty()) w.text(0x0020, 0x0100, "IS", s.temporal_position);
  w.number(0x0028, 0x0002, s.samples);
  w.text(0x0028, 0x0004, "CS", s.colours);
  w.number(0x0028, 0x0010, s.rows);
  w.number(0x0028, 0x0011, s.columns);
  if (!s.pixel_spacing.empty()) w.text(0x0028, 0x0030, "DS", s.pixel_spacing);
  if (s.pet) w.text(0x0028, 0x0051, "CS", s.pet->corrections);
  w.number(0x0028, 0x0100, s.bits);
  const std::uint16_t bits_stored = s.bits_stored.value_or(s.bits);
  w.number(0x0028, 0x0101, bits_stored);
  w.number(0x0028, 0x0102, s.high_bit.value_or(static_cast<std::uint16_t>(bits_stored - 1)));
  w.number(0x0028, 0x0103, s.is_signed);
  const char* vr = s.is_signed == 1 ? "SS" : "US";
  if (s.padding) w.number(0x0028, 0x0120, static_cast<std::uint16_t>(*s.padding), vr);
  if (s.padding_limit) w.number(0x0028, 0x0121, static_cast<std::uint16_t>(*s.padding_limit), vr);
  if (!s.burned_in.empty()) w.text(0x0028, 0x0301, "CS", s.burned_in);
  if (!s.recognizable.empty()) w.text(0x0028, 0x0302, "CS", s.recognizable);
  if (!s.intercept.empty()) w.text(0x0028, 0x1052, "DS", s.intercept);
  if (!s.slope.empty()) w.text(0x0028, 0x1053, "DS", s.slope);
  if (!s.rescale_type.empty()) w.text(0x0028, 0x1054, "LO", s.rescale_type);
  if (s.pet) {
    DicomWriter given;
    given.text(0x0018, 0x1072, "TM", s.pet->injected);
    given.text(0x0018, 0x1074, "DS", s.pet->dose_bq);
    given.text(0x0018, 0x1075, "DS", s.pet->half_life_s);
    if (!s.pet->injected_with_date.empty()) given.text(0x0018, 0x1078, "DT", s.pet->injected_with_date);
    w.sequence(0x0054, 0x0016, {given.bytes()});
    w.text(0x0054, 0x1001, "CS", s.pet->units);
    w.text(0x0054, 0x1102, "CS", s.pet->decay_correction);
  }
  if (s.overlay_bit) w.number(0x6002, 0x0102, *s.overlay_bit);
  w.words(0x7fe0, 0x0010, {reinterpret_cast<const char*>(stored.data()), stored.size() * 2});
  return dicom_file(meta.bytes(), w.bytes());
}

/// Returns the bytes of a file with one more element of a text, in the order of tags.
inline std::string with_element(std::string file, std::uint16_t group, std::uint16_t element, const char* vr,
                                const std::string& value) {
  DicomWriter one;
  one.text(group, element, vr, value);
  const auto number = [&](std::size_t at, int bytes) {
    std::uint32_t n = 0;
    for (int i = bytes - 1; i >= 0; --i)
      n = n << 8 | static_cast<unsigned char>(file.at(at + static_cast<std::size_t>(i)));
    return n;
  };
  std::size_t at = 132;  // behind the preamble and its word
  while (at < file.size() && (number(at, 2) << 16 | number(at + 2, 2)) < (std::uint32_t{group} << 16 | element)) {
    const std::string kind = file.substr(at + 4, 2);
    const bool is_long = kind == "OB" || kind == "OW" || kind == "SQ" || kind == "UN";
    at += is_long ? 12 + number(at + 8, 4) : 8 + number(at + 6, 2);
  }
  return file.insert(at, one.bytes());
}

}  // namespace voxshard
