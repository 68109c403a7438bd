// A volume format that only the tests know, to show that a format is one file and a row: a line of text (size, spacing,
// origin), then f32 voxels.
//
//   VolumeFormats formats = with_toy();
//   write_volume("a.toy", volume, DiskType::kF32, formats);
#pragma once

#include <fstream>

#include "io/files/atomic_file.h"
#include "io/volume/volume.h"

namespace voxshard {

inline Geometry read_toy_line(std::istream& in, const std::filesystem::path& path) {
  Geometry g;
  std::string mark;
  in >> mark;
  for (auto& v : g.size) in >> v;
  for (auto& v : g.spacing) in >> v;
  for (auto& v : g.origin) in >> v;
  if (!in || mark != "toy" || in.get() != '\n') throw input_error(path, "is no toy", "write it again");
  return g;
}

inline VolumeInfo toy_info(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  VolumeInfo info{.geometry = read_toy_line(in, path), .scalar_type = "float32"};
  info.orientation = orientation_code(info.geometry);
  info.dimensions.assign(info.geometry.size.begin(), info.geometry.size.end());
  info.voxel_bytes = 4 * info.geometry.size[0] * info.geometry.size[1] * info.geometry.size[2];
  info.file_bytes = static_cast<std::int64_t>(std::filesystem::file_size(path));
  return info;
}

inline Volume read_toy(const std::filesystem::path& path, DType dtype) {
  std::ifstream in(path, std::ios::binary);
  const Geometry geometry = read_toy_line(in, path);
  Volume volume{geometry, Tensor(dtype, geometry.shape())};
  const TensorView view = volume.voxels.view();
  for (std::int64_t i = 0; i < volume.voxels.count(); ++i) {
    float v = 0;
    if (!in.read(reinterpret_cast<char*>(&v), sizeof v)) throw input_error(path, "is truncated", "write it again");
    store(view, i, v);
  }
  return volume;
}

inline void write_toy(const std::filesystem::path& path, const Volume& volume, DiskType) {
  const Geometry& g = volume.geometry;
  std::string text = "toy";
  for (const auto& three :
       {std::to_array({double(g.size[0]), double(g.size[1]), double(g.size[2])}), g.spacing, g.origin})
    for (double v : three) text += " " + std::to_string(v).substr(0, std::to_string(v).find(".000000"));
  text += '\n';
  for (std::int64_t i = 0; i < volume.voxels.count(); ++i) {
    const auto v = static_cast<float>(load(volume.voxels.view(), i));
    text.append(reinterpret_cast<const char*>(&v), sizeof v);
  }
  write_text_atomically(path, text);
}

/// Returns the table of the build with one row more.
inline VolumeFormats with_toy() {
  VolumeFormats formats = volume_formats();
  formats.rows.push_back({.name = "Toy",
                          .endings = {".toy"},
                          .expected = ".toy",
                          .matches = [](const std::filesystem::path& path) { return path.extension() == ".toy"; },
                          .read_header = toy_info,
                          .read = read_toy,
                          .write = write_toy});
  return formats;
}

}  // namespace voxshard
