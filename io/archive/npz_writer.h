// Writes NumPy's .npz files of one array of 16-bit floats, piece by piece, so that the array is never whole in memory.
//
//   write_npz("case.npz", {.name = "probabilities", .shape = {5, 40, 512, 512}}, [&](const PutHalves& put) {
//     put(halves_of_a_slice);                                  // in C order, the last axis fastest
//   });
//   // Python: numpy.load("case.npz")["probabilities"]         float16, (5, 40, 512, 512)
//
// An .npz file is a zip archive, here deflated at level 1, of a file NAME.npy for each array.
// Source: NumPy 1.26, numpy.lib.format, version 1.0 of the header.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace voxshard {

/// Returns the bits of the IEEE 754 binary16 number nearest to `value`, ties to the even one; beyond 65504 infinity.
std::uint16_t half_bits(float value);

struct NpzArray {
  std::string name;
  std::vector<std::int64_t> shape;
};

/// Takes the next elements of the array.
using PutHalves = std::function<void(std::span<const std::uint16_t> halves)>;

/// Writes the file, whole or not at all; `fill` puts all elements. The same elements give the same bytes with the same
/// version of the library. Errors: kOutput; those of `fill`; kInternal for fewer or more elements than the shape has.
void write_npz(const std::filesystem::path& path, const NpzArray& array,
               const std::function<void(const PutHalves& put)>& fill);

}  // namespace voxshard
