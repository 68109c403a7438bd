// A small DICOM series in a scratch folder and a label map on its slices, for the tests of the objects made of them.
//
//   const ObjectScene scene({.columns = 7, .rows = 5, .slices = 4, .row = {1, 0, 0}, .column = {0, 0, -1}});
//   write_segmentation(scene.file("a.seg.dcm"), scene.labels(), SegmentTerms::builtin());
//   scene.read_back("a.seg.dcm")             // classes on the grid of the series
#pragma once

#include <random>

#include "io/dicom_out/source_series.h"
#include "io/structures/structure_labels.h"
#include "io/volume/archive.h"
#include "tests/io/dicom_files.h"
#include "tests/io/test_files.h"

namespace voxshard {

struct SeriesSpec {
  std::uint16_t columns = 7, rows = 5;
  int slices = 4;
  std::array<double, 3> row{1, 0, 0}, column{0, 1, 0};
  std::string pixel_spacing = "0.75\\0.5";  // between rows, between columns
  double step_mm = 2.5;
  std::string frame_of_reference = "1.2.3.9", study = "1.2.3";
  std::string character_set = "", patient = "Planted^Name";
};

/// An element of each slice that no object takes over. Its value stands in no other one.
struct ForeignElement {
  std::uint16_t group, element;
  const char *vr, *value;
};

inline constexpr ForeignElement kForeign[] = {
    {0x0008, 0x0080, "LO", "Foreign Hospital"},       // institution
    {0x0008, 0x0081, "ST", "Foreign Street 1"},       // its address
    {0x0008, 0x1010, "SH", "FOREIGN_STATION"},        // station
    {0x0008, 0x1050, "PN", "Foreign^Performer"},      // performing physician
    {0x0008, 0x1070, "PN", "Foreign^Operator"},       // operators
    {0x0009, 0x0010, "LO", "FOREIGN MAKER"},          // private creator
    {0x0009, 0x1001, "LO", "foreign private value"},  // private element
    {0x0010, 0x1000, "LO", "foreign-other-id"},       // other patient ids
    {0x0010, 0x1040, "LO", "Foreign Lane 2"},         // patient's address
    {0x0010, 0x2154, "SH", "+1 555 0100"},            // patient's telephone
    {0x0010, 0x4000, "LT", "foreign comment"},        // patient comments
    {0x0018, 0x1000, "LO", "FOREIGN-SERIAL"},         // serial number of the device
    {0x0032, 0x1032, "PN", "Foreign^Requester"},      // requesting physician
};

class ObjectScene {
 public:
  explicit ObjectScene(SeriesSpec spec = {}) : spec_(std::move(spec)), scratch_("dicom_object") {
    const auto& r = spec_.row;
    const auto& c = spec_.column;
    const std::array<double, 3> normal{r[1] * c[2] - r[2] * c[1], r[2] * c[0] - r[0] * c[2], r[0] * c[1] - r[1] * c[0]};
    for (int k = 0; k < spec_.slices; ++k) {
      DicomSpec slice{.instance = "1.2.3.1." + std::to_string(k + 1), .study = spec_.study};
      slice.patient = spec_.patient, slice.patient_id = "P-1";
      slice.rows = spec_.rows, slice.columns = spec_.columns, slice.pixel_spacing = spec_.pixel_spacing;
      slice.frame_of_reference = spec_.frame_of_reference;
      slice.orientation = {r[0], r[1], r[2], c[0], c[1], c[2]};
      slice.position = std::array<double, 3>{};
      for (std::size_t a = 0; a < 3; ++a)
        (*slice.position)[a] = 10.25 * static_cast<double>(a) - 3 + normal[a] * k * spec_.step_mm;
      std::vector<std::int16_t> pixels(static_cast<std::size_t>(spec_.rows) * spec_.columns,
                                       static_cast<std::int16_t>(1024 + k));
      std::string bytes = dicom_bytes(slice, pixels);
      if (!spec_.character_set.empty()) bytes = with_element(bytes, 0x0008, 0x0005, "CS", spec_.character_set);
      bytes = with_element(bytes, 0x0008, 0x0090, "PN", "Referring^Physician");
      for (const ForeignElement& one : kForeign) bytes = with_element(bytes, one.group, one.element, one.vr, one.value);
      // The names of the files are not in the order of the slices.
      write_bytes(folder() / (std::to_string((7 * k + 3) % 11) + "_" + std::to_string(k) + ".dcm"), bytes);
    }
    auto opened = open_series(folder());
    source_ = read_source_series(std::move(opened.value().series));
    const DicomGrid& g = source_.series.grid;
    grid_ = {.size = g.size, .origin = g.origin, .spacing = g.spacing, .direction = g.direction};
    voxels_ = Tensor(DType::kI32, grid_.shape());
    std::mt19937 random(5);
    auto* v = voxels_.as<std::int32_t>();
    const std::int64_t plane = grid_.size[0] * grid_.size[1];
    for (std::int64_t i = 0; i < voxels_.count(); ++i) {
      const auto drawn = random() % 8;
      // Class 3 has no voxel; class 4 lies in the last slice alone.
      v[i] = drawn < 3 ? 1 : drawn < 5 ? 2 : drawn == 5 && i >= voxels_.count() - plane ? 4 : 0;
    }
    v[voxels_.count() - 1] = 4;
  }

  fs::path folder() const { return scratch_.path() / "ct"; }
  fs::path file(const std::string& name) const { return scratch_.path() / name; }
  std::string bytes(const std::string& name) const { return read_bytes(file(name)); }
  const SourceSeries& source() const { return source_; }
  const Geometry& grid() const { return grid_; }
  Tensor& voxels() { return voxels_; }
  SeriesLabels labels(const std::string& key = "a key") const { return {source_, voxels_, classes, key}; }

  std::vector<std::int32_t> expected() const { return values(voxels_); }
  /// Returns the classes that a file of structures gives on the grid of the series, by the program's own reader.
  ///   class_of  by number of the structure
  std::vector<std::int32_t> read_back(const std::string& name, std::vector<std::string>* notes = nullptr,
                                      const std::map<int, int>& class_of = {{1, 1}, {2, 2}, {3, 3}, {4, 4}}) const {
    const StructureOptions options{.image = {.series_uid = "1.2.3.4", .frame_of_reference_uid = "1.2.3.9"}};
    const StructureLabels made = read_structures_on(file(name), grid_, class_of, options);
    if (notes != nullptr) *notes = made.notes;
    return values(made.volume.voxels);
  }

  std::vector<std::string> classes = {"background", "liver", "kidney_left", "spleen", "thing"};

 private:
  static std::vector<std::int32_t> values(const Tensor& t) {
    return {t.as<std::int32_t>(), t.as<std::int32_t>() + t.count()};
  }

  SeriesSpec spec_;
  ScratchFolder scratch_;
  SourceSeries source_;
  Geometry grid_;
  Tensor voxels_;
};

/// Expects that an object has the patient and the referring physician of the series, and no foreign element.
inline void expect_nothing_foreign(const ObjectScene& scene, const std::string& name) {
  const std::string object = scene.bytes(name), slice = read_bytes(scene.source().series.files.front().path);
  EXPECT_THAT(object, testing::HasSubstr("Planted^Name"));
  EXPECT_THAT(object, testing::HasSubstr("Referring^Physician"));
  for (const ForeignElement& one : kForeign) {
    EXPECT_THAT(slice, testing::HasSubstr(one.value));
    EXPECT_THAT(object, testing::Not(testing::HasSubstr(one.value)));
  }
}

/// Series in all positions: axial, of another size along each axis and as a cube, with the column cosine negated,
/// coronal, sagittal and oblique.
inline std::vector<std::pair<std::string, SeriesSpec>> series_positions() {
  const double c = 0.8, s = 0.6;
  return {{"axial", {}},
          {"tall", {.columns = 3, .rows = 9, .slices = 2}},
          {"cubic", {.columns = 6, .rows = 6, .slices = 6, .pixel_spacing = "1\\1", .step_mm = 1}},
          {"flipped", {.column = {0, -1, 0}}},
          {"mirrored", {.row = {-1, 0, 0}}},
          {"coronal", {.columns = 6, .rows = 4, .slices = 5, .row = {1, 0, 0}, .column = {0, 0, -1}}},
          {"sagittal", {.columns = 4, .rows = 6, .slices = 3, .row = {0, 1, 0}, .column = {0, 0, -1}}},
          {"oblique", {.columns = 5, .rows = 8, .slices = 3, .row = {c, s, 0}, .column = {-s, c, 0}}},
          {"tipped", {.columns = 8, .rows = 5, .slices = 4, .row = {1, 0, 0}, .column = {0, c, -s}}}};
}

}  // namespace voxshard
