// Resampling on one thread and in double: to another spacing, and labels along the axes of the world, by tables
// (respace.h), else with ITK's filter, whose numbers are the same on every machine with the same ITK.
//
//   Volume work = resample_image(ct, {1.5, 1.5, 3});
#include "io/resampling/resample.h"

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

#include "io/resampling/respace.h"

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

/// A grid of the filter, whose matrices can be looked at.
class Grid : public itk::ImageBase<3> {
 public:
  using Self = Grid;
  using Pointer = itk::SmartPointer<Self>;
  itkSimpleNewMacro(Self);
  const DirectionType& to_world() const { return m_IndexToPhysicalPoint; }
  const DirectionType& to_index() const { return m_PhysicalPointToIndex; }
};

/// Returns a grid as the filter's images have it, with their matrices and transforms.
Grid::Pointer as_grid(const Geometry& g) {
  auto grid = Grid::New();
  grid->SetOrigin(g.origin.data());
  grid->SetSpacing(g.spacing.data());
  grid->SetDirection(direction_of(g));
  return grid;
}

/// Returns the column of the one entry of each row that is not 0; none where a row or a column has others.
std::optional<std::array<unsigned, 3>> single_entries(const Grid::DirectionType& matrix) {
  std::array<unsigned, 3> columns{};
  unsigned seen = 0;  // columns, as bits
  for (unsigned r = 0; r < 3; ++r) {
    unsigned entries = 0;
    for (unsigned c = 0; c < 3; ++c)
      if (matrix(r, c) != 0) ++entries, columns[r] = c;
    if (entries != 1) return std::nullopt;
    seen |= 1u << columns[r];
  }
  return seen == 7 ? std::optional(columns) : std::nullopt;
}

/// The way from an index of `to` to a continuous index of `from`, as ITK's filter takes it.
struct GridWay {
  Grid::Pointer from, to;
  std::optional<std::array<unsigned, 3>> to_axes;  // by axis of `from`: the axis of `to` that runs along it

  GridWay(const Geometry& source, const Geometry& result) : from(as_grid(source)), to(as_grid(result)) {
    // Products with the other entries, which are 0, change no sum: each world coordinate depends on one index of `to`,
    // and each index of `from` on one world coordinate.
    const auto worlds = single_entries(from->to_index()), indices = single_entries(to->to_world());
    if (!worlds || !indices) return;
    to_axes.emplace();
    for (unsigned a = 0; a < 3; ++a) (*to_axes)[a] = (*indices)[(*worlds)[a]];
  }

  /// Returns the continuous index along an axis of `from` for an index along the axis of `to` beside it.
  double at(unsigned from_axis, std::int64_t index) const {
    Grid::IndexType whole{};
    whole[(*to_axes)[from_axis]] = index;
    itk::Point<double, 3> point;
    to->TransformIndexToPhysicalPoint(whole, point);
    return from->TransformPhysicalPointToContinuousIndex<double>(point)[from_axis];
  }
};

/// Returns where ITK's filter takes the labels of `to` from, by the functions and the order of operations of
/// itkResampleImageFilter.hxx (LinearThreadedGenerateData) and itkImageFunction.h (IsInsideBuffer) of ITK 5.2, so that
/// ties fall alike. None: the indices along an axis depend on several.
std::optional<SamplePlaces> nearest_places(const Geometry& from, const Geometry& to) {
  const GridWay way(from, to);
  if (!way.to_axes) return std::nullopt;
  SamplePlaces places;
  std::int64_t stride = 1;  // of an axis of `from`
  for (unsigned a = 0; a < 3; stride *= from.size[a], ++a) {
    const unsigned to_axis = (*way.to_axes)[a];
    const std::int64_t count = to.size[to_axis], size = from.size[a];
    const double start = way.at(a, 0), end = way.at(a, count);
    std::vector<std::int64_t>& along = to_axis == 0 ? places.x : to_axis == 1 ? places.y : places.z;
    for (std::int64_t j = 0; j < count; ++j) {
      const double alpha = static_cast<double>(j) / static_cast<double>(count);
      const double at = to_axis == 0 ? start + alpha * (end - start) : way.at(a, j);  // ITK goes along rows so
      const bool inside = at >= -0.5 && at < static_cast<double>(size - 1) + 0.5;
      // Along one voxel the double before 0.5 is inside, and rounds to 1: ITK would read behind its memory.
      along.push_back(inside ? stride * std::min<std::int64_t>(itk::Math::Round<itk::IndexValueType>(at), size - 1)
                             : -1);
    }
  }
  return places;
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
  if (const auto places = nearest_places(volume.geometry, grid)) return {grid, samples_at(volume.voxels, *places)};
  return resample<std::int32_t>(volume, grid, Interpolation::kNearest, 0);
}

bool axes_agree(const Geometry& from, const Geometry& to) { return GridWay(from, to).to_axes.has_value(); }

}  // namespace voxshard
