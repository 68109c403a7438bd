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
  std::string modality = "CT", kernel = "SOFT", patient = "Planted^Name", institution = {}, patient_id = {};
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
    spec.institution = s.institution, spec.patient_id = s.patient_id;
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
  StructureSetSpec set{.series = s.series, .patient = s.patient, .study = s.study, .frame_of_reference = s.frame};
  set.instance = s.series + ".900", set.own_series = s.series + ".90";
  for (const Block& b : blocks) {
    RoiSpec roi{.number = b.number, .name = b.name, .frame_of_reference = s.frame};
    for (int z = b.first; z < b.past; ++z)
      roi.contours.push_back({.points = square({b.begin - 0.5, b.begin - 0.5, s.step_mm * z}, b.end - b.begin)});
    set.rois.push_back(roi);
  }
  write_study_file(file, structure_set_bytes(set));
}

/// A binary segmentation of all slices on the grid of the series `s`, whose side is a multiple of 4.
inline void write_segmentation(const std::filesystem::path& file, const StudySeries& s,
                               const std::vector<Block>& blocks) {
  SegmentationSpec seg{.segments = {}, .binary = true, .rows = s.side, .columns = s.side};
  seg.series = s.series, seg.frame_of_reference = s.frame, seg.step = decimals(std::array{s.step_mm});
  seg.patient = s.patient, seg.study = s.study;
  seg.instance = s.series + ".800", seg.own_series = s.series + ".80";
  for (const Block& b : blocks) {
    seg.segments.push_back(b.name), seg.numbers.push_back(static_cast<std::uint16_t>(b.number));
    for (int z = 0; z < s.slices; ++z) {
      SegmentationSpec::Frame frame{.segment = seg.numbers.back(), .position = {0, 0, s.step_mm * z}};
      for (int y = 0; y < s.side; ++y)
        for (int x = 0; x < s.side; ++x)
          frame.values += z >= b.first && z < b.past && x >= b.begin && x < b.end && y >= b.begin && y < b.end;
      seg.frames.push_back(frame);
    }
  }
  write_study_file(file, segmentation_bytes(seg));
}

}  // namespace voxshard
