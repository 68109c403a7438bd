// The transforms along H and W, between planes and slabs, and of weights along all axes: one axis after another,
// through scratch of one tile and 16 channels, which stays in a level-1 cache.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "libcore/kernels/winograd/transforms.cc"
#include <hwy/foreach_target.h>
// after foreach_target
#include <hwy/highway.h>

#include "libcore/kernels/winograd/routines.h"
#include "libcore/kernels/winograd/stages-inl.h"
#include "libcore/kernels/winograd/vector_targets.h"

HWY_BEFORE_NAMESPACE();
namespace voxshard::winograd::HWY_NAMESPACE {
namespace {

/// Transforms one plane of a tile, 16 channels, along W and H; strides are those of H and W.
template <class Kind>
HWY_INLINE void TransformPlane(const TileForm& form, const float* from, const std::int64_t* src, float* to,
                               const std::int64_t* dst, float* scratch) {
  const int height = FromExtent<Kind>(form.inputs[1]), to_w = ToExtent<Kind>(form.inputs[2]);
  const std::int64_t row = to_w * kBlock;
  AnyStage<Kind>(form.inputs[2], 1, height, FromFloats{from}, {0, src[0], src[1]}, scratch, {0, row, kBlock});
  AnyStage<Kind>(form.inputs[1], 1, to_w, FromFloats{scratch}, {0, kBlock, row}, to, {0, dst[1], dst[0]});
}

/// Transforms along all axes; strides are those of D, H and W.
template <class Kind>
HWY_INLINE void TransformAll(const TileForm& form, const float* from, const std::int64_t* src, float* to,
                             const std::int64_t* dst, float* scratch) {
  const int depth = FromExtent<Kind>(form.inputs[0]);
  const int to_h = ToExtent<Kind>(form.inputs[1]), to_w = ToExtent<Kind>(form.inputs[2]);
  const std::int64_t row = to_w * kBlock, plane = to_h * row;
  const std::int64_t between[2] = {row, kBlock};
  float* planes = scratch + kScratchFloats / 2;
  for (int d = 0; d < depth; ++d)
    TransformPlane<Kind>(form, from + d * src[0], src + 1, planes + d * plane, between, scratch);
  AnyStage<Kind>(form.inputs[0], to_h, to_w, FromFloats{planes}, {row, kBlock, plane}, to, {dst[1], dst[2], dst[0]});
}

template <class Kind>
HWY_INLINE void ToSlabs(const TileForm& form, const Planes& from, int position, const int* tiles, const Slabs& to,
                        float* scratch) {
  const std::int64_t src[2] = {from.width * kBlock, kBlock};
  const std::int64_t dst[2] = {form.inputs[2] * kPositionFloats, kPositionFloats};
  const int step_h = form.outputs[1], step_w = form.outputs[2];
  for (std::int64_t block = 0; block < from.blocks; ++block) {
    std::int64_t t = 0;
    for (int d = 0; d < tiles[0]; ++d)
      for (int h = 0; h < tiles[1]; ++h)
        for (int w = 0; w < tiles[2]; ++w, ++t)
          TransformPlane<Kind>(form, from.at(position, block, d) + (h * step_h * from.width + w * step_w) * kBlock, src,
                               to.tile(t) + block * to.slab(), dst, scratch);
  }
}

void PatchesToSlabs(const TileForm& form, const Planes& from, int position, const int* tiles, const Slabs& to,
                    float* scratch) {
  ToSlabs<OfPatch>(form, from, position, tiles, to, scratch);
}

void GradientsToSlabs(const TileForm& form, const Planes& from, int position, const int* tiles, const Slabs& to,
                      float* scratch) {
  ToSlabs<OfGradient>(form, from, position, tiles, to, scratch);
}

void SlabsToOutputs(const TileForm& form, const Slabs& from, int position, const int* tiles, const Planes& to,
                    std::int64_t first_block, std::int64_t blocks, float* scratch) {
  const std::int64_t src[2] = {form.inputs[2] * kPositionFloats, kPositionFloats};
  const std::int64_t dst[2] = {to.width * kBlock, kBlock};
  for (std::int64_t block = 0; block < blocks; ++block) {
    std::int64_t t = 0;
    for (int d = 0; d < tiles[0]; ++d)
      for (int h = 0; h < tiles[1]; ++h)
        for (int w = 0; w < tiles[2]; ++w, ++t)
          TransformPlane<OfOutput>(
              form, from.tile(t) + block * from.slab(), src,
              to.at(position, first_block + block, d) + (h * form.outputs[1] * to.width + w * form.outputs[2]) * kBlock,
              dst, scratch);
  }
}

void TransformWeights(const TileForm& form, const float* taps, float* to, std::int64_t position_step, float* scratch) {
  const std::int64_t src[3] = {form.kernel(1) * form.kernel(2) * kBlock, form.kernel(2) * kBlock, kBlock};
  const std::int64_t dst[3] = {form.inputs[1] * form.inputs[2] * position_step, form.inputs[2] * position_step,
                               position_step};
  TransformAll<OfWeights>(form, taps, src, to, dst, scratch);
}

void TransformSums(const TileForm& form, const float* sums, std::int64_t position_step, float* taps, float* scratch) {
  const std::int64_t src[3] = {form.inputs[1] * form.inputs[2] * position_step, form.inputs[2] * position_step,
                               position_step};
  const std::int64_t dst[3] = {form.kernel(1) * form.kernel(2) * kBlock, form.kernel(2) * kBlock, kBlock};
  TransformAll<OfSums>(form, sums, src, taps, dst, scratch);
}

}  // namespace
}  // namespace voxshard::winograd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace voxshard::winograd {

HWY_EXPORT(PatchesToSlabs);
HWY_EXPORT(GradientsToSlabs);
HWY_EXPORT(SlabsToOutputs);
HWY_EXPORT(TransformWeights);
HWY_EXPORT(TransformSums);

void patches_to_slabs(const TileForm& form, const Planes& from, int position, const int* tiles, const Slabs& to,
                      float* scratch) {
  VOXSHARD_DISPATCH(PatchesToSlabs)
  (form, from, position, tiles, to, scratch);
}

void gradients_to_slabs(const TileForm& form, const Planes& from, int position, const int* tiles, const Slabs& to,
                        float* scratch) {
  VOXSHARD_DISPATCH(GradientsToSlabs)
  (form, from, position, tiles, to, scratch);
}

void slabs_to_outputs(const TileForm& form, const Slabs& from, int position, const int* tiles, const Planes& to,
                      std::int64_t first_block, std::int64_t blocks, float* scratch) {
  VOXSHARD_DISPATCH(SlabsToOutputs)
  (form, from, position, tiles, to, first_block, blocks, scratch);
}

void transform_weights(const TileForm& form, const float* taps, float* to, std::int64_t position_step, float* scratch) {
  VOXSHARD_DISPATCH(TransformWeights)
  (form, taps, to, position_step, scratch);
}

void transform_sums(const TileForm& form, const float* sums, std::int64_t position_step, float* taps, float* scratch) {
  VOXSHARD_DISPATCH(TransformSums)(form, sums, position_step, taps, scratch);
}

}  // namespace voxshard::winograd
#endif  // HWY_ONCE
