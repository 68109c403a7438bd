// RT structure sets and DICOM segmentations built element by element, beside the slices of dicom_files.h.
//
//   const RoiSpec liver{.number = 4, .name = "Liver", .contours = {{.points = square({0, 0, 5}, 4)}}};
//   write_bytes(dir.path() / "RS.dcm", structure_set_bytes({.rois = {liver}}));
#pragma once

#include "tests/io/dicom_files.h"

namespace voxshard {

using Points = std::vector<std::array<double, 3>>;  // mm, LPS

struct ContourSpec {
  Points points;
  std::string type = "CLOSED_PLANAR";
  std::optional<int> count = {};  // of points, as the file says it; none: as many as there are
  std::string data = {};          // text of the coordinates in place of the points
  bool unknown_type = false;      // coordinates of the type UN, as texts of more than 64 KiB have
};

struct RoiSpec {
  int number = 1;
  std::string name = "Liver";  // bytes in the file's character set
  std::string type = "ORGAN";
  std::vector<ContourSpec> contours = {};
  std::string frame_of_reference = "1.2.3.9";
};

struct StructureSetSpec {
  std::string character_set, series = "1.2.3.4";
  std::vector<RoiSpec> rois = {};
  std::string patient = "Planted^Name", study = "", frame_of_reference = "1.2.3.9";
  std::string instance = "1.2.3.77", own_series = "1.2.3.5";
};

/// The bytes of a file: its preamble, what says how it is encoded, and a data set.
inline std::string structure_file(const std::string& sop_class, const std::string& instance, const std::string& set) {
  DicomWriter meta;
  meta.text(0x0002, 0x0002, "UI", sop_class);
  meta.text(0x0002, 0x0003, "UI", instance);
  meta.text(0x0002, 0x0010, "UI", "1.2.840.10008.1.2.1");
  return dicom_file(meta.bytes(), set);
}

inline std::string contour_item(const ContourSpec& contour) {
  std::string text = contour.data;
  if (text.empty())
    for (const auto& point : contour.points) text += (text.empty() ? "" : "\\") + decimals(point);
  DicomWriter item;
  item.text(0x3006, 0x0042, "CS", contour.type);
  item.text(0x3006, 0x0046, "IS", std::to_string(contour.count.value_or(static_cast<int>(contour.points.size()))));
  if (contour.unknown_type)
    item.long_value(0x3006, 0x0050, "UN", text + (text.size() % 2 == 1 ? " " : ""));
  else
    item.text(0x3006, 0x0050, "DS", text);
  return item.bytes();
}

/// The items that refer to the image: frame of reference, study, series.
inline std::string reference_items(const StructureSetSpec& s) {
  DicomWriter series, study, frame;
  series.text(0x0020, 0x000e, "UI", s.series);
  study.text(0x0008, 0x1155, "UI", "1.2.3");
  study.sequence(0x3006, 0x0014, {series.bytes()});
  frame.text(0x0020, 0x0052, "UI", s.rois.empty() ? s.frame_of_reference : s.rois[0].frame_of_reference);
  frame.sequence(0x3006, 0x0012, {study.bytes()});
  return frame.bytes();
}

inline std::string structure_set_bytes(const StructureSetSpec& s) {
  std::vector<std::string> rois, contours, observations;
  for (const RoiSpec& roi : s.rois) {
    DicomWriter named, drawn, observed;
    named.text(0x3006, 0x0022, "IS", std::to_string(roi.number));
    named.text(0x3006, 0x0024, "UI", roi.frame_of_reference);
    named.text(0x3006, 0x0026, "LO", roi.name);
    rois.push_back(named.bytes());
    std::vector<std::string> items;
    for (const ContourSpec& contour : roi.contours) items.push_back(contour_item(contour));
    drawn.sequence(0x3006, 0x0040, items);
    drawn.text(0x3006, 0x0084, "IS", std::to_string(roi.number));
    contours.push_back(drawn.bytes());
    observed.text(0x3006, 0x0084, "IS", std::to_string(roi.number));
    observed.text(0x3006, 0x00a4, "CS", roi.type);
    observations.push_back(observed.bytes());
  }
  DicomWriter w;
  if (!s.character_set.empty()) w.text(0x0008, 0x0005, "CS", s.character_set);
  w.text(0x0008, 0x0016, "UI", "1.2.840.10008.5.1.4.1.1.481.3");
  w.text(0x0008, 0x0018, "UI", s.instance);
  w.text(0x0008, 0x0060, "CS", "RTSTRUCT");
  w.text(0x0010, 0x0010, "PN", s.patient);
  if (!s.study.empty()) w.text(0x0020, 0x000d, "UI", s.study);
  w.text(0x0020, 0x000e, "UI", s.own_series);
  w.sequence(0x3006, 0x0010, {reference_items(s)});
  w.sequence(0x3006, 0x0020, rois);
  w.sequence(0x3006, 0x0039, contours);
  w.sequence(0x3006, 0x0080, observations);
  return structure_file("1.2.840.10008.5.1.4.1.1.481.3", s.instance, w.bytes());
}

/// A segmentation, one frame for each segment and slice.
struct SegmentationSpec {
  std::vector<std::string> segments = {"Liver"};  // their names
  std::vector<std::uint16_t> numbers = {};        // empty: 1, 2 ...
  bool binary = false;                            // one bit a voxel; else fractional, 8 bits
  std::array<double, 6> orientation{1, 0, 0, 0, 1, 0};
  std::array<double, 2> spacing{1, 1};  // between rows, between columns
  std::uint16_t rows = 2, columns = 2;
  std::string character_set, series = "1.2.3.4", frame_of_reference = "1.2.3.9", step = "1", thickness = "";
  std::string patient = "Planted^Name", study = "", instance = "1.2.3.78", own_series = "1.2.3.6";
  struct Frame {
    std::uint16_t segment = 1;
    std::array<double, 3> position{};
    std::string values = {};  // 0 to 255, row by row; of a binary one 0 and else
  };
  std::vector<Frame> frames = {};
};

/// Packs eight voxels into a byte, the first into its lowest bit.
inline std::string packed_bits(const std::string& voxels) {
  std::string bytes((voxels.size() + 7) / 8, '\0');
  for (std::size_t i = 0; i < voxels.size(); ++i)
    if (voxels[i] != 0) bytes[i / 8] = static_cast<char>(bytes[i / 8] | (1 << (i % 8)));
  return bytes;
}

inline std::string segmentation_bytes(const SegmentationSpec& s) {
  std::vector<std::string> segments, frames;
  std::string pixels;
  for (std::size_t i = 0; i < s.segments.size(); ++i) {
    DicomWriter segment, type;
    type.text(0x0008, 0x0104, "LO", "Organ");
    segment.number(0x0062, 0x0004, s.numbers.empty() ? static_cast<std::uint16_t>(i + 1) : s.numbers[i]);
    segment.text(0x0062, 0x0005, "LO", s.segments[i]);
    segment.sequence(0x0062, 0x000f, {type.bytes()});
    segments.push_back(segment.bytes());
  }
  for (const SegmentationSpec::Frame& frame : s.frames) {
    DicomWriter position, number, groups;
    position.text(0x0020, 0x0032, "DS", decimals(frame.position));
    number.number(0x0062, 0x000b, frame.segment);
    groups.sequence(0x0020, 0x9113, {position.bytes()});
    groups.sequence(0x0062, 0x000a, {number.bytes()});
    frames.push_back(groups.bytes());
    pixels += frame.values;
  }
  if (s.binary) pixels = packed_bits(pixels);
  if (pixels.size() % 2 == 1) pixels += '\0';
  DicomWriter series, orientation, measures, shared, w;
  series.text(0x0020, 0x000e, "UI", s.series);
  orientation.text(0x0020, 0x0037, "DS", decimals(s.orientation));
  if (!s.thickness.empty()) measures.text(0x0018, 0x0050, "DS", s.thickness);
  measures.text(0x0018, 0x0088, "DS", s.step);
  measures.text(0x0028, 0x0030, "DS", decimals(s.spacing));
  shared.sequence(0x0020, 0x9116, {orientation.bytes()});
  shared.sequence(0x0028, 0x9110, {measures.bytes()});
  if (!s.character_set.empty()) w.text(0x0008, 0x0005, "CS", s.character_set);
  w.text(0x0008, 0x0016, "UI", "1.2.840.10008.5.1.4.1.1.66.4");
  w.text(0x0008, 0x0018, "UI", s.instance);
  w.text(0x0008, 0x0060, "CS", "SEG");
  w.sequence(0x0008, 0x1115, {series.bytes()});
  w.text(0x0010, 0x0010, "PN", s.patient);
  if (!s.study.empty()) w.text(0x0020, 0x000d, "UI", s.study);
  w.text(0x0020, 0x000e, "UI", s.own_series);
  w.text(0x0020, 0x0052, "UI", s.frame_of_reference);
  w.number(0x0028, 0x0002, 1);
  w.text(0x0028, 0x0004, "CS", "MONOCHROME2");
  w.text(0x0028, 0x0008, "IS", std::to_string(s.frames.size()));
  w.number(0x0028, 0x0010, s.rows);
  w.number(0x0028, 0x0011, s.columns);
  const std::uint16_t bits = s.binary ? 1 : 8;
  w.number(0x0028, 0x0100, bits);
  w.number(0x0028, 0x0101, bits);
  w.number(0x0028, 0x0102, static_cast<std::uint16_t>(bits - 1));
  w.number(0x0028, 0x0103, 0);
  w.text(0x0062, 0x0001, "CS", s.binary ? "BINARY" : "FRACTIONAL");
  w.sequence(0x0062, 0x0002, segments);
  if (!s.binary) w.number(0x0062, 0x000e, 255);
  w.sequence(0x5200, 0x9229, {shared.bytes()});
  w.sequence(0x5200, 0x9230, frames);
  w.long_value(0x7fe0, 0x0010, "OB", pixels);
  return structure_file("1.2.840.10008.5.1.4.1.1.66.4", s.instance, w.bytes());
}

/// A square in a plane of constant z, with its corner at `corner` and sides of `mm`, counter-clockwise.
inline Points square(const std::array<double, 3>& corner, double mm) {
  const auto [x, y, z] = corner;
  return {{x, y, z}, {x + mm, y, z}, {x + mm, y + mm, z}, {x, y + mm, z}};
}

}  // namespace voxshard
