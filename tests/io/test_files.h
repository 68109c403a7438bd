// Helpers of the io tests: the real data's folder, and NIfTI files built byte by byte, so
// that what is read does not depend on what is written.
//
//   write_bytes(dir.path() / "a.nii", nifti_bytes({.datatype = 4, .big_endian = true}, {1, 2, 3, 4, 5, 6, 7, 8}));
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "tests/expect_error.h"
#include "tests/scratch_folder.h"

namespace voxshard {

namespace fs = std::filesystem;

inline fs::path test_data() {
  const char* env = std::getenv("VOXSHARD_TEST_DATA");
  return env ? fs::path(env) : fs::path(VOXSHARD_SOURCE_DIR "/../shared/data");
}

#define REQUIRE_TEST_DATA(path) \
  if (!fs::exists(path)) GTEST_SKIP() << "no test data at " << (path)

inline void write_bytes(const fs::path& path, const std::string& bytes) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

inline std::string gzipped(const std::string& bytes, const fs::path& scratch) {
  const fs::path file = scratch / "scratch.gz";
  gzFile gz = gzopen(file.c_str(), "wb");
  gzwrite(gz, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(gz);
  const std::string packed = read_bytes(file);
  fs::remove(file);
  return packed;
}

struct NiftiSpec {
  std::vector<std::int16_t> dims{2, 2, 2};
  std::int16_t datatype = 16;
  bool big_endian = false;
  float slope = 0, intercept = 0;
  std::int16_t qform_code = 0, sform_code = 1;
  std::array<float, 12> srow{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};  // RAS
  std::array<float, 3> spacing{1, 1, 1};
};

/// Appends `value` as the NIfTI type `datatype`.
inline void append_scalar(std::string& out, std::int16_t datatype, double value, bool big_endian) {
  auto as = [&](auto v) {
    char raw[sizeof v];
    std::memcpy(raw, &v, sizeof v);
    if (big_endian) std::reverse(raw, raw + sizeof v);
    out.append(raw, sizeof v);
  };
  switch (datatype) {
    case 2:
      return as(static_cast<std::uint8_t>(value));
    case 4:
      return as(static_cast<std::int16_t>(value));
    case 8:
      return as(static_cast<std::int32_t>(value));
    case 16:
      return as(static_cast<float>(value));
    case 64:
      return as(value);
    case 256:
      return as(static_cast<std::int8_t>(value));
    case 512:
      return as(static_cast<std::uint16_t>(value));
    case 768:
      return as(static_cast<std::uint32_t>(value));
    case 1024:
      return as(static_cast<std::int64_t>(value));
    case 1280:
      return as(static_cast<std::uint64_t>(value));
    default:
      FAIL() << "no such type in the tests";
  }
}

/// Returns a whole .nii; the voxels are `values`, repeated as often as needed.
inline std::string nifti_bytes(const NiftiSpec& spec, const std::vector<double>& values) {
  std::string header(352, '\0');
  auto put = [&](std::size_t at, auto v) {
    char raw[sizeof v];
    std::memcpy(raw, &v, sizeof v);
    if (spec.big_endian) std::reverse(raw, raw + sizeof v);
    header.replace(at, sizeof v, raw, sizeof v);
  };
  std::string one;
  append_scalar(one, spec.datatype, 0, false);
  put(0, std::int32_t{348});
  put(40, static_cast<std::int16_t>(spec.dims.size()));
  std::size_t count = 1;
  for (std::size_t i = 0; i < 7; ++i) put(42 + 2 * i, i < spec.dims.size() ? spec.dims[i] : std::int16_t{1});
  for (auto d : spec.dims) count *= static_cast<std::size_t>(d);
  put(70, spec.datatype);
  put(72, static_cast<std::int16_t>(8 * one.size()));
  put(76, 1.0f);
  for (std::size_t i = 0; i < 3; ++i) put(80 + 4 * i, spec.spacing[i]);
  put(108, 352.0f);
  put(112, spec.slope);
  put(116, spec.intercept);
  header[123] = 2;  // millimetres
  put(252, spec.qform_code);
  put(254, spec.sform_code);
  for (std::size_t i = 0; i < 12; ++i) put(280 + 4 * i, spec.srow[i]);
  header.replace(344, 3, "n+1");
  for (std::size_t i = 0; i < count; ++i)
    append_scalar(header, spec.datatype, values[i % values.size()], spec.big_endian);
  return header;
}

/// Returns the same volume as NIfTI-2 (540 bytes of header and 4 of extensions; offsets of nifti2.h).
inline std::string nifti2_bytes(const NiftiSpec& spec, const std::vector<double>& values) {
  const std::string first = nifti_bytes(spec, values);
  std::string header(544, '\0');
  auto put = [&](std::size_t at, auto v) {
    char raw[sizeof v];
    std::memcpy(raw, &v, sizeof v);
    if (spec.big_endian) std::reverse(raw, raw + sizeof v);
    header.replace(at, sizeof v, raw, sizeof v);
  };
  put(0, std::int32_t{540});
  header.replace(4, 8, std::string("n+2\0\r\n\032\n", 8));
  put(12, spec.datatype);
  put(16, static_cast<std::int64_t>(spec.dims.size()));
  for (std::size_t i = 0; i < 7; ++i)
    put(24 + 8 * i, i < spec.dims.size() ? static_cast<std::int64_t>(spec.dims[i]) : std::int64_t{1});
  put(104, 1.0);
  for (std::size_t i = 0; i < 3; ++i) put(112 + 8 * i, static_cast<double>(spec.spacing[i]));
  put(168, std::int64_t{544});
  put(176, static_cast<double>(spec.slope));
  put(184, static_cast<double>(spec.intercept));
  put(344, static_cast<std::int32_t>(spec.qform_code));
  put(348, static_cast<std::int32_t>(spec.sform_code));
  for (std::size_t i = 0; i < 12; ++i) put(400 + 8 * i, static_cast<double>(spec.srow[i]));
  put(500, std::int32_t{2});
  return header + first.substr(352);
}

}  // namespace voxshard
