// The transforms along D, between a tensor and planes: whole rows of voxels at a time, so that memory is read and
// written in order, each voxel once. A row that lies inside its tensor is read in place, otherwise it is first gathered
// with zeros.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "libcore/kernels/winograd/planes.cc"
#include <hwy/foreach_target.h>
// after foreach_target
#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "libcore/kernels/winograd/routines.h"
#include "libcore/kernels/winograd/stages-inl.h"
#include "libcore/kernels/winograd/vector_targets.h"

HWY_BEFORE_NAMESPACE();
namespace voxshard::winograd::HWY_NAMESPACE {
namespace {

struct FromBFloats {
  const std::uint16_t* data;
  HWY_INLINE Floats operator()(std::int64_t offset) const {
    const hn::Rebind<std::uint32_t, FloatTag> bits;
    const hn::Rebind<std::uint16_t, FloatTag> half;
    return hn::BitCast(FloatTag(), hn::ShiftLeft<16>(hn::PromoteTo(bits, hn::LoadU(half, data + offset))));
  }
};

/// Rounds to nearest even as BF16 does; a NaN becomes quiet.
HWY_INLINE void StoreBFloats(Floats value, std::uint16_t* to) {
  const hn::Rebind<std::uint32_t, FloatTag> bits;
  const hn::Rebind<std::int32_t, FloatTag> integers;
  const hn::Rebind<std::uint16_t, FloatTag> half;
  const auto word = hn::BitCast(bits, value);
  const auto odd = hn::And(hn::ShiftRight<16>(word), hn::Set(bits, 1));
  const auto rounded = hn::ShiftRight<16>(hn::Add(word, hn::Add(odd, hn::Set(bits, 0x7fff))));
  const auto quiet = hn::Or(hn::ShiftRight<16>(word), hn::Set(bits, 0x40));
  const auto nan = hn::RebindMask(bits, hn::IsNaN(value));
  hn::StoreU(hn::DemoteTo(half, hn::BitCast(integers, hn::IfThenElse(nan, quiet, rounded))), half, to);
}

/// Gathers `planes` rows of voxels [plane][w][16] from plane d, row h on, with zeros for missing voxels.
void GatherRows(const TileVoxels& from, int d, int planes, int h, std::int64_t width, std::int64_t channel, float* to) {
  const std::int64_t count = std::min(kBlock, from.channels - channel);
  std::memset(to, 0, sizeof(float) * static_cast<std::size_t>(planes * width * kBlock));
  if (h < from.first[1] || h >= from.past[1]) return;
  for (int k = std::max(0, from.first[0] - d); k < std::min(planes, from.past[0] - d); ++k)
    for (int w = from.first[2]; w < from.past[2]; ++w) {
      const std::int64_t at = (d + k) * from.stride[0] + h * from.stride[1] + w * from.stride[2] + channel;
      float* cell = to + (k * width + w) * kBlock;
      if (!from.bf16) {
        std::memcpy(cell, reinterpret_cast<const float*>(from.data) + at,
                    sizeof(float) * static_cast<std::size_t>(count));
        continue;
      }
      const auto* narrow = reinterpret_cast<const std::uint16_t*>(from.data) + at;
      for (std::int64_t c = 0; c < count; ++c) {
        const std::uint32_t word = static_cast<std::uint32_t>(narrow[c]) << 16;
        std::memcpy(cell + c, &word, sizeof(word));
      }
    }
}

template <class Kind>
HWY_INLINE void Read(const TileForm& form, const TileVoxels& from, const Planes& to, std::int64_t first_block,
                     float* scratch) {
  const int planes = FromExtent<Kind>(form.inputs[0]), width = static_cast<int>(to.width);
  const Lines dst{0, kBlock, to.position()};
  const Lines src{0, from.stride[2], from.stride[0]};
  const bool full_width = from.first[2] == 0 && from.past[2] == width;
  for (int t = 0; t < to.depth; ++t) {
    const int d = t * form.outputs[0];
    for (int h = 0; h < to.height; ++h) {
      const bool whole =
          full_width && h >= from.first[1] && h < from.past[1] && d >= from.first[0] && d + planes <= from.past[0];
      const std::int64_t row = d * from.stride[0] + h * from.stride[1];
      for (std::int64_t channel = 0; channel < from.channels; channel += kBlock) {
        float* write = to.at(0, first_block + channel / kBlock, t) + h * to.width * kBlock;
        if (!whole || channel + kBlock > from.channels) {
          GatherRows(from, d, planes, h, to.width, channel, scratch);
          AnyStage<Kind>(form.inputs[0], 1, width, FromFloats{scratch}, {0, kBlock, to.width * kBlock}, write, dst);
        } else if (from.bf16) {
          const FromBFloats values{reinterpret_cast<const std::uint16_t*>(from.data) + row + channel};
          AnyStage<Kind>(form.inputs[0], 1, width, values, src, write, dst);
        } else {
          const FromFloats values{reinterpret_cast<const float*>(from.data) + row + channel};
          AnyStage<Kind>(form.inputs[0], 1, width, values, src, write, dst);
        }
      }
    }
  }
}

void ReadPatches(const TileForm& form, const TileVoxels& from, const Planes& to, std::int64_t first_block,
                 float* scratch) {
  Read<OfPatch>(form, from, to, first_block, scratch);
}

void ReadGradients(const TileForm& form, const TileVoxels& from, const Planes& to, std::int64_t first_block,
                   float* scratch) {
  Read<OfGradient>(form, from, to, first_block, scratch);
}

/// Writes the first `count` of 16 channels at offset `at`.
HWY_INLINE void WriteVoxel(const Floats* values, const TileVoxels& to, std::int64_t at, std::int64_t count) {
  auto* wide = reinterpret_cast<float*>(to.data) + at;
  auto* narrow = reinterpret_cast<std::uint16_t*>(to.data) + at;
  HWY_ALIGN float some[kBlock];
  HWY_ALIGN std::uint16_t some_narrow[kBlock];
  if (count < kBlock) wide = some, narrow = some_narrow;
  for (int v = 0; v < kVectors; ++v)
    if (to.bf16)
      StoreBFloats(values[v], narrow + v * kLanes);
    else
      hn::StoreU(values[v], FloatTag(), wide + v * kLanes);
  if (count == kBlock) return;
  const std::size_t size = to.bf16 ? sizeof(std::uint16_t) : sizeof(float);
  const void* from = to.bf16 ? static_cast<const void*>(some_narrow) : static_cast<const void*>(some);
  std::memcpy(to.data + at * static_cast<std::int64_t>(size), from, size * static_cast<std::size_t>(count));
}

template <class Axis>
HWY_INLINE void Write(const Planes& from, const float* bias, const TileVoxels& to) {
  for (int t = 0; t < from.depth; ++t)
    for (int h = to.first[1]; h < to.past[1]; ++h)
      for (int w = to.first[2]; w < to.past[2]; ++w)
        for (std::int64_t block = 0; block < from.blocks; ++block) {
          const float* read = from.at(0, block, t) + (h * from.width + w) * kBlock;
          const std::int64_t count = std::min(kBlock, to.channels - block * kBlock);
          const std::int64_t at = h * to.stride[1] + w * to.stride[2] + block * kBlock;
          Floats out[Axis::kTo][kVectors];
          for (int v = 0; v < kVectors; ++v) {
            Floats in[Axis::kFrom], sums[Axis::kTo];
#pragma GCC unroll 6
            for (int k = 0; k < Axis::kFrom; ++k) in[k] = hn::Load(FloatTag(), read + k * from.position() + v * kLanes);
            Axis::Apply(in, sums);
            const Floats add = hn::Load(FloatTag(), bias + block * kBlock + v * kLanes);
#pragma GCC unroll 6
            for (int k = 0; k < Axis::kTo; ++k) out[k][v] = hn::Add(sums[k], add);
          }
          for (int k = 0; k < Axis::kTo; ++k) {
            const int d = t * Axis::kTo + k;
            if (d >= to.first[0] && d < to.past[0]) WriteVoxel(out[k], to, at + d * to.stride[0], count);
          }
        }
}

void WriteOutputs(const TileForm& form, const Planes& from, const float* bias, const TileVoxels& to) {
  if (form.inputs[0] == 6)
    Write<Output6>(from, bias, to);
  else if (form.inputs[0] == 4)
    Write<Output4>(from, bias, to);
  else
    Write<Bare>(from, bias, to);
}

}  // namespace
}  // namespace voxshard::winograd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace voxshard::winograd {

HWY_EXPORT(ReadPatches);
HWY_EXPORT(ReadGradients);
HWY_EXPORT(WriteOutputs);

void read_patches(const TileForm& form, const TileVoxels& from, const Planes& to, std::int64_t first_block,
                  float* scratch) {
  VOXSHARD_DISPATCH(ReadPatches)(form, from, to, first_block, scratch);
}

void read_gradients(const TileForm& form, const TileVoxels& from, const Planes& to, std::int64_t first_block,
                    float* scratch) {
  VOXSHARD_DISPATCH(ReadGradients)(form, from, to, first_block, scratch);
}

void write_outputs(const TileForm& form, const Planes& from, const float* bias, const TileVoxels& to) {
  VOXSHARD_DISPATCH(WriteOutputs)(form, from, bias, to);
}

}  // namespace voxshard::winograd
#endif  // HWY_ONCE
