// One volume with one landmark, for every format: voxel (3, 1, 2) holds 1000 and lies 12 mm to the left, 34 mm to the
// back and 56 mm to the head of the world's origin. Mixing LPS and RAS up would move it to the other side.
//
//   write_bytes(path, landmark_nrrd("RAS", {-1, -1, 1}, ""));
//   expect_landmark(read_image(path), "RAS");
#pragma once

#include <cmath>

#include "io/volume/volume.h"
#include "libcore/base/text.h"
#include "tests/io/test_files.h"

namespace voxshard {

struct Landmark {
  Geometry geometry;
  std::array<std::int64_t, 3> index = {3, 1, 2};
  std::array<double, 3> lps_mm = {12, 34, 56};
};

inline const Landmark kLandmark = [] {
  Landmark l;
  Geometry& g = l.geometry;
  g.size = {5, 4, 3}, g.spacing = {2, 3, 5};
  g.direction = {0.6, 0, 0.8, 0.8, 0, -0.6, 0, -1, 0};  // x towards left and back, y to the feet
  for (std::size_t r = 0; r < 3; ++r) {
    g.origin[r] = l.lps_mm[r];
    for (std::size_t a = 0; a < 3; ++a)
      g.origin[r] -= g.direction[3 * r + a] * g.spacing[a] * static_cast<double>(l.index[a]);
  }
  return l;
}();

/// Returns the 60 voxels as i16, little-endian: 0 but for the landmark.
inline std::string landmark_voxels() {
  std::string bytes(2 * 60, '\0');
  const std::size_t at = 2 * ((2 * 4 + 1) * 5 + 3);
  bytes[at] = '\xe8', bytes[at + 1] = '\x03';  // 1000
  return bytes;
}

/// Component r of the step along axis a, in a world whose axes are those of LPS times `sign`.
inline double landmark_step(std::size_t r, std::size_t a, const std::array<int, 3>& sign) {
  return kLandmark.geometry.direction[3 * r + a] * kLandmark.geometry.spacing[a] * sign[r];
}

inline std::string landmark_nrrd(const std::string& space, const std::array<int, 3>& sign, const std::string& more) {
  std::string header =
      "NRRD0004\ntype: short\ndimension: 3\nsizes: 5 4 3\nendian: little\nencoding: raw\nspace: " + space + "\n" +
      more + "space directions:";
  const auto vector = [&](auto component) {
    return " (" + number_text(component(0)) + "," + number_text(component(1)) + "," + number_text(component(2)) + ")";
  };
  for (std::size_t a = 0; a < 3; ++a) header += vector([&](std::size_t r) { return landmark_step(r, a, sign); });
  header += "\nspace origin:" + vector([&](std::size_t r) { return kLandmark.geometry.origin[r] * sign[r]; });
  return header + "\n\n" + landmark_voxels();
}

/// MetaImage is LPS.
inline std::string landmark_meta_fields() {
  const Geometry& g = kLandmark.geometry;
  std::string header = "ObjectType = Image\nNDims = 3\nBinaryData = True\nBinaryDataByteOrderMSB = False\n";
  header += "Offset =";
  for (double v : g.origin) header += " " + number_text(v);
  header += "\nTransformMatrix =";
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t r = 0; r < 3; ++r) header += " " + number_text(g.direction[3 * r + a]);
  return header + "\nElementSpacing = 2 3 5\nDimSize = 5 4 3\nElementType = MET_SHORT\n";
}

/// The plane of a slice of DICOM, which is LPS: where a row and a column go.
inline std::array<double, 6> landmark_cosines() {
  const auto& d = kLandmark.geometry.direction;
  return {d[0], d[3], d[6], d[1], d[4], d[7]};
}
/// The centre of the first voxel of slice z.
inline std::array<double, 3> landmark_slice(int z) {
  std::array<double, 3> at = kLandmark.geometry.origin;
  for (std::size_t r = 0; r < 3; ++r) at[r] += landmark_step(r, 2, {1, 1, 1}) * z;
  return at;
}

/// NIfTI is RAS.
inline NiftiSpec landmark_nifti() {
  NiftiSpec spec{.dims = {5, 4, 3}, .datatype = 4, .spacing = {2, 3, 5}};
  const std::array<int, 3> sign = {-1, -1, 1};
  for (std::size_t r = 0; r < 3; ++r) {
    for (std::size_t a = 0; a < 3; ++a) spec.srow[4 * r + a] = static_cast<float>(landmark_step(r, a, sign));
    spec.srow[4 * r + 3] = static_cast<float>(kLandmark.geometry.origin[r] * sign[r]);
  }
  return spec;
}

/// Expects one voxel that is not 0, with this value, at the landmark's place, whatever the order of the voxels.
inline void expect_landmark_in_the_world(const Volume& v, double value, const std::string& what) {
  const Geometry& g = v.geometry;
  int marks = 0;
  for (std::int64_t i = 0; i < v.voxels.count(); ++i) {
    if (load(v.voxels.view(), i) == 0) continue;
    ++marks;
    EXPECT_EQ(load(v.voxels.view(), i), value) << what;
    const std::int64_t x = i % g.size[0], y = i / g.size[0] % g.size[1], z = i / g.size[0] / g.size[1];
    const auto place = g.world({static_cast<double>(x), static_cast<double>(y), static_cast<double>(z)});
    for (std::size_t r = 0; r < 3; ++r) EXPECT_NEAR(place[r], kLandmark.lps_mm[r], 1e-4) << what << ", axis " << r;
  }
  EXPECT_EQ(marks, 1) << what;
}

/// Expects also the order of the voxels to be that of the file.
inline void expect_landmark(const Volume& v, const std::string& what) {
  const auto [x, y, z] = kLandmark.index;
  const Geometry& g = v.geometry;
  ASSERT_EQ(g.size, kLandmark.geometry.size) << what;
  EXPECT_EQ(load(v.voxels.view(), (z * g.size[1] + y) * g.size[0] + x), 1000) << what;
  EXPECT_TRUE(same_geometry(g, kLandmark.geometry, 1e-4)) << what;
  expect_landmark_in_the_world(v, 1000, what);
}

}  // namespace voxshard
