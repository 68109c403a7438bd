// Enhanced (multi-frame) DICOM files built element by element: attributes in shared groups, or in those of each frame.
//
//   EnhancedSpec ct{.frames = {{.position = {0, 0, 0}}, {.position = {0, 0, 2}, .slope = "2"}}};
//   write_bytes(dir.path() / "ct.dcm", enhanced_bytes(ct, {1, 2, 3, 4, 5, 6, 7, 8}));
#pragma once

#include "tests/io/dicom_files.h"

namespace voxshard {

struct EnhancedFrame {
  std::optional<std::array<double, 3>> position = std::array<double, 3>{0, 0, 0};
  std::string slope = "", intercept = "";            // empty: those of all frames
  std::string orientation = "", pixel_spacing = "";  // likewise
  std::string more = "";                             // bytes of further groups
};

struct EnhancedSpec {
  std::string sop_class = "1.2.840.10008.5.1.4.1.1.2.1";  // enhanced CT image storage
  std::string modality = "CT", image_type = "ORIGINAL\\PRIMARY\\VOLUME\\NONE";
  // Of all frames; left out where they are empty.
  std::string orientation = "1\\0\\0\\0\\1\\0", pixel_spacing = "0.5\\0.75", slope = "", intercept = "";
  std::string more_shared = "";                                    // bytes of further groups
  std::string of_patient = "", of_acquisition = "", further = "";  // bytes of elements of groups 10, 18, and 54
  std::uint16_t is_signed = 1;
  std::optional<int> padding = std::nullopt;
  std::vector<EnhancedFrame> frames = {};
};

/// Appends the groups of attributes that are not empty.
inline void add_groups(DicomWriter& groups, const EnhancedFrame& f) {
  const auto add = [&](std::uint16_t group, std::uint16_t element, auto fill) {
    DicomWriter item;
    fill(item);
    if (!item.bytes().empty()) groups.sequence(group, element, {item.bytes()});
  };
  add(0x0020, 0x9113, [&](DicomWriter& w) {
    if (f.position) w.text(0x0020, 0x0032, "DS", decimals(*f.position));
  });
  add(0x0020, 0x9116, [&](DicomWriter& w) {
    if (!f.orientation.empty()) w.text(0x0020, 0x0037, "DS", f.orientation);
  });
  add(0x0028, 0x9110, [&](DicomWriter& w) {
    if (!f.pixel_spacing.empty()) w.text(0x0028, 0x0030, "DS", f.pixel_spacing);
  });
  add(0x0028, 0x9145, [&](DicomWriter& w) {
    if (!f.intercept.empty()) w.text(0x0028, 0x1052, "DS", f.intercept);
    if (!f.slope.empty()) w.text(0x0028, 0x1053, "DS", f.slope);
  });
  groups.append(f.more);
}

/// The bytes of a file with frames of 2 x 2 pixels; `stored` are those of all frames, one after the other.
inline std::string enhanced_bytes(const EnhancedSpec& s, const std::vector<std::int16_t>& stored) {
  DicomWriter shared, w;
  add_groups(shared, {.position = std::nullopt,
                      .slope = s.slope,
                      .intercept = s.intercept,
                      .orientation = s.orientation,
                      .pixel_spacing = s.pixel_spacing,
                      .more = s.more_shared});
  std::vector<std::string> frames;
  for (const EnhancedFrame& frame : s.frames) {
    DicomWriter groups;
    add_groups(groups, frame);
    frames.push_back(groups.bytes());
  }
  w.text(0x0008, 0x0008, "CS", s.image_type);
  w.text(0x0008, 0x0016, "UI", s.sop_class);
  w.text(0x0008, 0x0018, "UI", "1.2.3.1");
  w.text(0x0008, 0x0060, "CS", s.modality);
  w.append(s.of_patient);
  w.append(s.of_acquisition);
  w.text(0x0020, 0x000d, "UI", "1.2.3");
  w.text(0x0020, 0x000e, "UI", "1.2.3.4");
  w.number(0x0028, 0x0002, 1);
  w.text(0x0028, 0x0004, "CS", "MONOCHROME2");
  w.text(0x0028, 0x0008, "IS", std::to_string(s.frames.size()));
  w.number(0x0028, 0x0010, 2);
  w.number(0x0028, 0x0011, 2);
  w.number(0x0028, 0x0100, 16);
  w.number(0x0028, 0x0101, 16);
  w.number(0x0028, 0x0102, 15);
  w.number(0x0028, 0x0103, s.is_signed);
  if (s.padding) w.number(0x0028, 0x0120, static_cast<std::uint16_t>(*s.padding), s.is_signed == 1 ? "SS" : "US");
  w.append(s.further);
  w.sequence(0x5200, 0x9229, {shared.bytes()});
  w.sequence(0x5200, 0x9230, frames);
  w.words(0x7fe0, 0x0010, {reinterpret_cast<const char*>(stored.data()), stored.size() * 2});
  DicomWriter meta;
  meta.text(0x0002, 0x0002, "UI", s.sop_class);
  meta.text(0x0002, 0x0003, "UI", "1.2.3.1");
  meta.text(0x0002, 0x0010, "UI", "1.2.840.10008.1.2.1");
  return dicom_file(meta.bytes(), w.bytes());
}

}  // namespace voxshard
