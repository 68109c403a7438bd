// Resampling on one thread and in double: to another spacing by tables (respace.h), else with ITK's filter, whose
// numbers are the same on every machine with the same ITK.
//
//   Volume work = resample_image(ct, {1.5, 1.5, 3});
#include "io/volume/resample.h"

#include <itkBSplineInterpolateImageFunction.h>
#include <itkImportImageFilter.h>
#include <itkLinearInterpolateImageFunction.h>
#include <itkMultiThreaderBase.h>
#include <itkNearestNeighborExtrapolateImageFunction.h>
#include <itkNearestNeighborInterpolateImageFunction.h>
#include <itkResampleImageFilter.h>

#include <algorithm>
#include <new>
#include <optional>

#include "io/volume/respace.h"

namespace voxshard {
namespace {

template <class T>
using Image = itk::Image<T, 3>;

/// Stops ITK from starting threads of its own; all threads belong to the runtime.
void keep_itk_on_this_thread() {
  static const bool done = [] {
    itk::MultiThreaderBase::SetGlobalDefaultThreader(itk::MultiThreaderBaseEnums::Threader::Platform);
    itk::MultiThreaderBase::SetGlobalMaximumNumberOfThreads(1);
    itk::MultiThreaderBase::SetGlobalDefaultNumberOfThreads(1);
    return true;
  }();
  static_cast<void>(done);
}

typename Image<float>::DirectionType direction_of(const Geometry& g) {
  typename Image<float>::DirectionType d;
  for (unsigned r = 0; r < 3; ++r)
    for (unsigned c = 0; c < 3; ++c) d(r, c) = g.direction[3 * r + c];
  return d;
}

/// The volume's own memory as an ITK image; the tensor must outlive it.
template <class T>
typename Image<T>::Pointer as_itk(const Volume& v) {
  auto import = itk::ImportImageFilter<T, 3>::New();
  itk::ImageRegion<3> region;
  for (unsigned a = 0; a < 3; ++a) region.SetSize(a, static_cast<itk::SizeValueType>(v.geometry.size[a]));
  import->SetRegion(region);
  import->SetOrigin(v.geometry.origin.data());
  import->SetSpacing(v.geometry.spacing.data());
  import->SetDirection(direction_of(v.geometry));
  import->SetImportPointer(v.voxels.as<T>(), static_cast<itk::SizeValueType>(v.voxels.count()), false);
  import->Update();
  return import->GetOutput();
}

template <class T>
typename itk::InterpolateImageFunction<Image<T>, double>::Pointer interpolator(Interpolation kind) {
  if (kind == Interpolation::kNearest)
    return itk::NearestNeighborInterpolateImageFunction<Image<T>, double>::New().GetPointer();
  if (kind == Interpolation::kLinear) return itk::LinearInterpolateImageFunction<Image<T>, double>::New().GetPointer();
  auto cubic = itk::BSplineInterpolateImageFunction<Image<T>, double, double>::New();
  cubic->SetSplineOrder(3);
  return cubic.GetPointer();
}

/// Makes the filter write into the result's memory, so that it allocates none for its output.
template <class T, class Filter>
void write_into(Filter& filter, const Tensor& voxels) {
  auto memory = itk::ImportImageContainer<itk::SizeValueType, T>::New();
  memory->SetImportPointer(voxels.as<T>(), static_cast<itk::SizeValueType>(voxels.count()), false);
  filter.GetOutput()->SetPixelContainer(memory);
}

/// Resamples onto `grid`. `outside`: value outside of the source; empty: that of the nearest edge voxel.
template <class T>
Volume resample(const Volume& volume, const Geometry& grid, Interpolation kind, std::optional<T> outside) {
  keep_itk_on_this_thread();
  const auto image = as_itk<T>(volume);
  auto filter = itk::ResampleImageFilter<Image<T>, Image<T>, double, double>::New();
  filter->SetInput(image);
  filter->SetInterpolator(interpolator<T>(kind));
  if (outside) {
    filter->SetDefaultPixelValue(*outside);
  } else {
    filter->SetExtrapolator(itk::NearestNeighborExtrapolateImageFunction<Image<T>, double>::New());
  }
  itk::Size<3> size;
  for (unsigned a = 0; a < 3; ++a) size[a] = static_cast<itk::SizeValueType>(grid.size[a]);
  filter->SetSize(size);
  filter->SetOutputOrigin(grid.origin.data());
  filter->SetOutputSpacing(grid.spacing.data());
  filter->SetOutputDirection(direction_of(grid));
  filter->SetNumberOfWorkUnits(1);
  Volume result{grid, Tensor(volume.voxels.dtype(), grid.shape())};
  write_into<T>(*filter, result.voxels);
  try {
    filter->Update();
  } catch (const itk::MemoryAllocationError&) {
    throw std::bad_alloc();
  } catch (const itk::ExceptionObject& e) {
    throw Error(ErrorKind::kInternal, std::string("[resample] ITK failed: ") + e.GetDescription());
  }
  ensure(filter->GetOutput()->GetBufferPointer() == result.voxels.as<T>(), "ITK writes where it was told to");
  return result;
}

/// A cubic spline overshoots at edges; nnU-Net clips to the input's range and so do we.
void clip_to_range_of(const Tensor& source, Tensor& result, std::optional<float> keep = std::nullopt) {
  if (source.count() == 0) return;
  const auto [low, high] = std::minmax_element(source.as<float>(), source.as<float>() + source.count());
  for (float* v = result.as<float>(); v != result.as<float>() + result.count(); ++v)
    if (*v != keep) *v = std::clamp(*v, *low, *high);
}

void require(const Volume& volume, DType type) {
  ensure(volume.voxels.dtype() == type, "images are f32 and labels i32");
  ensure(volume.voxels.shape() == volume.geometry.shape(), "a volume's voxels have the shape of its geometry");
}

}  // namespace

Volume resample_image(Volume volume, const std::array<double, 3>& spacing_mm, Interpolation interpolation) {
  require(volume, DType::kF32);
  const Geometry grid = respaced(volume.geometry, spacing_mm);
  if (grid.size == volume.geometry.size) return volume;
  if (interpolation == Interpolation::kLinear) return {grid, resize_linear(std::move(volume.voxels), grid.shape())};
  Volume result = resample<float>(volume, grid, interpolation, std::nullopt);
  if (interpolation == Interpolation::kCubic) clip_to_range_of(volume.voxels, result.voxels);
  return result;
}

Volume resample_label(Volume volume, const std::array<double, 3>& spacing_mm) {
  require(volume, volume.voxels.dtype() == DType::kU8 ? DType::kU8 : DType::kI32);
  const Geometry grid = respaced(volume.geometry, spacing_mm);
  if (grid.size == volume.geometry.size) return volume;
  return {grid, resize_nearest(std::move(volume.voxels), grid.shape())};
}

Volume resample_image_to(const Volume& volume, const Geometry& grid, Interpolation interpolation, double outside) {
  require(volume, DType::kF32);
  if (same_geometry(volume.geometry, grid, 1e-6)) return {grid, volume.voxels};
  Volume result = resample<float>(volume, grid, interpolation, static_cast<float>(outside));
  if (interpolation == Interpolation::kCubic)
    clip_to_range_of(volume.voxels, result.voxels, static_cast<float>(outside));
  return result;
}

Volume resample_label_to(Volume volume, const Geometry& grid) {
  require(volume, DType::kI32);
  if (same_geometry(volume.geometry, grid, 1e-6)) return {grid, std::move(volume.voxels)};
  return resample<std::int32_t>(volume, grid, Interpolation::kNearest, 0);
}

}  // namespace voxshard
