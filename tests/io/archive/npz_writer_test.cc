// .npz files as NumPy reads them: the archive and the header of the array, and numbers rounded to 16 bits.
#include "io/archive/npz_writer.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>

#include "io/archive/archive_reader.h"
#include "tests/expect_error.h"
#include "tests/scratch_folder.h"

namespace voxshard {
namespace {

/// Returns the number of these bits, by its definition.
double value_of(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  const double magnitude = exponent == 0    ? std::ldexp(mantissa, -24)
                           : exponent == 31 ? std::numeric_limits<double>::infinity()
                                            : std::ldexp(1024 + mantissa, exponent - 25);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

TEST(NpzWriter, HalvesAreTheNearestOnes) {
  for (std::uint32_t bits = 0; bits < 0x7c00; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const double here = value_of(half), above = value_of(static_cast<std::uint16_t>(bits + 1));
    EXPECT_EQ(half_bits(static_cast<float>(here)), half);
    EXPECT_EQ(half_bits(static_cast<float>(-here)), half | 0x8000);
    const double middle = bits == 0x7bff ? 65520 : (here + above) / 2;
    const auto even = static_cast<std::uint16_t>(bits % 2 == 0 ? bits : bits + 1);
    EXPECT_EQ(half_bits(static_cast<float>(middle)), even) << bits;
    EXPECT_EQ(half_bits(std::nextafter(static_cast<float>(middle), 0.0F)), half) << bits;
    EXPECT_EQ(half_bits(std::nextafter(static_cast<float>(middle), 1e9F)), half + 1) << bits;
  }
  EXPECT_EQ(half_bits(std::numeric_limits<float>::infinity()), 0x7c00);
  EXPECT_EQ(half_bits(1e30F), 0x7c00);
  EXPECT_EQ(half_bits(1e-30F), 0);
  EXPECT_EQ(half_bits(std::numeric_limits<float>::quiet_NaN()) & 0x7fff, 0x7e00);
}

TEST(NpzWriter, TheArchiveHoldsOneArrayWithItsHeader) {
  const ScratchFolder folder("npz");
  const auto path = folder.path() / "case.npz";
  write_npz(path, {.name = "probabilities", .shape = {2, 3, 70}}, [](const PutHalves& put) {
    for (std::uint16_t row = 0; row < 6; ++row) put(std::vector<std::uint16_t>(70, row));
  });
  ArchiveReader in(path);
  ASSERT_TRUE(in.next());
  EXPECT_EQ(in.name(), "probabilities.npy");
  std::string bytes(1 << 16, ' ');
  bytes.resize(in.read(bytes.data(), std::ssize(bytes)));
  ASSERT_EQ(bytes.size(), 128u + 2 * 420);
  EXPECT_EQ(bytes.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
  EXPECT_EQ(bytes.substr(8, 2), std::string("\x76\x00", 2)) << "118 bytes of text: the data begin at 128";
  EXPECT_EQ(bytes.substr(10, 61), "{'descr': '<f2', 'fortran_order': False, 'shape': (2, 3, 70, ");
  EXPECT_EQ(bytes[127], '\n');
  for (std::size_t i = 0; i < 420; ++i) {
    std::uint16_t half = 0;
    std::memcpy(&half, bytes.data() + 128 + 2 * i, 2);
    ASSERT_EQ(half, i / 70);
  }
  EXPECT_FALSE(in.next());
}

TEST(NpzWriter, AnArrayOfAnotherLengthLeavesNoFile) {
  const ScratchFolder folder("npz_length");
  const auto path = folder.path() / "case.npz";
  for (const std::size_t count : {5, 7})
    expect_error(ErrorKind::kInternal, "than its shape", [&] {
      write_npz(path, {.name = "a", .shape = {2, 3}},
                [&](const PutHalves& put) { put(std::vector<std::uint16_t>(count, 1)); });
    });
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  expect_error(ErrorKind::kOutput, "none", [&] {
    write_npz(folder.path() / "none" / "case.npz", {.name = "a", .shape = {}}, [](const PutHalves&) {});
  });
}

TEST(NpzWriter, NumpyReadsIt) {
  const char* chosen = std::getenv("VOXSHARD_TEST_PYTHON");  // Debian's has python3-numpy
  const std::string python = chosen == nullptr ? "/usr/bin/python3" : chosen;
  if (std::system((python + " -c 'import numpy' 2>/dev/null").c_str()) != 0) GTEST_SKIP() << "no numpy in " << python;
  const ScratchFolder folder("npz_numpy");
  const auto path = folder.path() / "case.npz";
  write_npz(path, {.name = "probabilities", .shape = {2, 2}}, [](const PutHalves& put) {
    put(std::vector<std::uint16_t>{0x3c00, 0x3800, 0x0001, 0});
  });
  const std::string command =
      python +
      " -c \"import numpy, sys; a = numpy.load(sys.argv[1])['probabilities']; "
      "sys.exit(not (a.dtype == numpy.float16 and a.tolist() == [[1.0, 0.5], [2.0**-24, 0.0]]))\" " +
      path.string();
  EXPECT_EQ(std::system(command.c_str()), 0);
}

}  // namespace
}  // namespace voxshard
