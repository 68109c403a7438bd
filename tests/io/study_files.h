// Studies built element by element: image series, structure sets and segmentations that refer to them.
//
//   const StudySeries ct{.series = "1.2.3.4", .frame = "1.2.9"};
//   write_series(dir / "ct", ct);
//   write_structure_set(dir / "rs.dcm", ct, {{1, "Liver", 2, 6, 1, 3}});  // voxels 2 to 5, slices 1 and 2
//   write_segmentation(dir / "seg.dcm", ct, {{1, "Spleen", 0, 2, 0, 1}});
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/io/structure_files.h"

namespace voxshard {

/// A series of square slices of 1 mm pixels, `step_mm` apart along z.
struct StudySeries {
  std::string study = "1.2.840.77.1", series = "1.2.840.77.1.4", frame = "1.2.840.77.9";
  std::string modality = "CT", kernel = "SOFT", patient = "Planted^Name";
  std::uint16_t side = 8;
  int slices = 4;
  double step_mm = 2;
};

/// A block of voxels in x and y from `begin` to before `end`, in the slices from `first` to before `past`.
struct Block {
  int number = 1;
  std::string name;
  int begin = 0, end = 0, first = 0, past = 0;
};

inline void write_study_file(const std::filesystem::path& file, const std::string& bytes) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << bytes;
}

/// HU of a voxel: 10 z + x.
inline void write_series(const std::filesystem::path& folder, const StudySeries& s, const std::string& name = "IM") {
  for (int z = 0; z < s.slices; ++z) {
    DicomSpec spec{.instance = s.series + "." + std::to_string(z + 1), .study = s.study, .series = s.series};
    spec.modality = s.modality, spec.kernel = s.kernel, spec.patient = s.patient;
    spec.thickness = decimals(std::array{s.step_mm});
    spec.rows = spec.columns = s.side, spec.pixel_spacing = "1\\1";
    spec.position = {{0, 0, s.step_mm * z}}, spec.intercept = "0", spec.frame_of_reference = s.frame;
    std::vector<std::int16_t> pixels;
    for (int i = 0; i < s.side * s.side; ++i) pixels.push_back(static_cast<std::int16_t>(10 * z + i % s.side));
    write_study_file(folder / (name + std::to_string(z)), dicom_bytes(spec, pixels));
  }
}

/// A structure set of square contours; a block of no slices has a name and no contour. It refers to the series `s`.
inline void write_structure_set(const std::filesystem::path& file, const StudySeries& s,
                                const std::vector<Block>& blocks) {
  const std::string sop_class = "1.2.840.10008.5.1.4.1.1.481.3", instance = s.series + ".900";
  DicomWriter series, study, frame;
  series.text(0x0020, 0x000e, "UI", s.series);
  study.sequence(0x3006, 0x0014, {series.bytes()});
  frame.text(0x0020, 0x0052, "UI", s.frame);
  frame.sequence(0x3006, 0x0012, {study.bytes()});
  std::vector<std::string> rois, drawn;
  for (const Block& b : blocks) {
    DicomWriter roi, contours;
    roi.text(0x3006, 0x0022, "IS", std::to_string(b.number));
    roi.text(0x3006, 0x0024, "UI", s.frame);
    roi.text(0x3006, 0x0026, "LO", b.name);
    rois.push_back(roi.bytes());
    std::vector<std::string> planes;
    for (int z = b.first; z < b.past; ++z) {
      const double low = b.begin - 0.5, high = b.end - 0.5, at = s.step_mm * z;
      DicomWriter contour;
      contour.text(0x3006, 0x0042, "CS", "CLOSED_PLANAR");
      contour.text(0x3006, 0x0046, "IS", "4");
      contour.text(0x3006, 0x0050, "DS",
                   decimals(std::array{low, low, at, high, low, at, high, high, at, low, high, at}));
      planes.push_back(contour.bytes());
    }
    if (!planes.empty()) contours.sequence(0x3006, 0x0040, planes);
    contours.text(0x3006, 0x0084, "IS", std::to_string(b.number));
    drawn.push_back(contours.bytes());
  }
  DicomWriter w;
  w.text(0x0008, 0x0016, "UI", sop_class);
  w.text(0x0008, 0x0018, "UI", instance);
  w.text(0x0008, 0x0060, "CS", "RTSTRUCT");
  w.text(0x0010, 0x0010, "PN", s.patient);
  w.text(0x0020, 0x000d, "UI", s.study);
  w.text(0x0020, 0x000e, "UI", s.series + ".90");
  w.sequence(0x3006, 0x0010, {frame.bytes()});
  w.sequence(0x3006, 0x0020, rois);
  w.sequence(0x3006, 0x0039, drawn);
  write_study_file(file, structure_file(sop_class, instance, w.bytes()));
}

/// A binary segmentation of all slices on the grid of the series `s`, whose side is a multiple of 4.
inline void write_segmentation(const std::filesystem::path& file, const StudySeries& s,
                               const std::vector<Block>& blocks) {
  const std::string sop_class = "1.2.840.10008.5.1.4.1.1.66.4", instance = s.series + ".800";
  std::vector<std::string> segments, frames;
  std::string pixels;
  std::size_t bit = 0;
  for (const Block& b : blocks) {
    DicomWriter segment;
    segment.number(0x0062, 0x0004, static_cast<std::uint16_t>(b.number));
    segment.text(0x0062, 0x0005, "LO", b.name);
    segments.push_back(segment.bytes());
    for (int z = 0; z < s.slices; ++z) {
      DicomWriter position, identification, frame;
      position.text(0x0020, 0x0032, "DS", decimals(std::array{0.0, 0.0, s.step_mm * z}));
      identification.number(0x0062, 0x000b, static_cast<std::uint16_t>(b.number));
      frame.sequence(0x0020, 0x9113, {position.bytes()});
      frame.sequence(0x0062, 0x000a, {identification.bytes()});
      frames.push_back(frame.bytes());
      for (int y = 0; y < s.side; ++y)
        for (int x = 0; x < s.side; ++x, ++bit) {
          if (bit % 8 == 0) pixels += '\0';
          const bool inside = z >= b.first && z < b.past && x >= b.begin && x < b.end && y >= b.begin && y < b.end;
          if (inside) pixels.back() = static_cast<char>(pixels.back() | (1 << (bit % 8)));
        }
    }
  }
  DicomWriter orientation, measures, shared, series;
  orientation.text(0x0020, 0x0037, "DS", "1\\0\\0\\0\\1\\0");
  measures.text(0x0018, 0x0050, "DS", decimals(std::array{s.step_mm}));
  measures.text(0x0018, 0x0088, "DS", decimals(std::array{s.step_mm}));
  measures.text(0x0028, 0x0030, "DS", "1\\1");
  shared.sequence(0x0020, 0x9116, {orientation.bytes()});
  shared.sequence(0x0028, 0x9110, {measures.bytes()});
  series.text(0x0020, 0x000e, "UI", s.series);
  DicomWriter w;
  w.text(0x0008, 0x0016, "UI", sop_class);
  w.text(0x0008, 0x0018, "UI", instance);
  w.text(0x0008, 0x0060, "CS", "SEG");
  w.sequence(0x0008, 0x1115, {series.bytes()});
  w.text(0x0010, 0x0010, "PN", s.patient);
  w.text(0x0020, 0x000d, "UI", s.study);
  w.text(0x0020, 0x000e, "UI", s.series + ".80");
  w.text(0x0020, 0x0052, "UI", s.frame);
  w.number(0x0028, 0x0002, 1);
  w.text(0x0028, 0x0004, "CS", "MONOCHROME2");
  w.text(0x0028, 0x0008, "IS", std::to_string(frames.size()));
  w.number(0x0028, 0x0010, s.side);
  w.number(0x0028, 0x0011, s.side);
  w.number(0x0028, 0x0100, 1);
  w.number(0x0028, 0x0101, 1);
  w.number(0x0028, 0x0102, 0);
  w.number(0x0028, 0x0103, 0);
  w.text(0x0062, 0x0001, "CS", "BINARY");
  w.sequence(0x0062, 0x0002, segments);
  w.sequence(0x5200, 0x9229, {shared.bytes()});
  w.sequence(0x5200, 0x9230, frames);
  w.words(0x7fe0, 0x0010, pixels);
  write_study_file(file, structure_file(sop_class, instance, w.bytes()));
}

}  // namespace voxshard
