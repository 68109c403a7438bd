// The map covers the whole file; a read touches the pages of its box only. A box of 48 x 16 x 64 voxels of i16 is
// 48 * 16 runs of 128 bytes.
//
//   MappedVolume::open("cache/liver_03.nii").read_box(box, view);
#include "io/volume/mapped_volume.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <cstring>

#include "io/files/open_file.h"
#include "io/volume/nifti_header.h"

namespace voxshard {
namespace {

DiskType type_of(const NiftiHeader& h, const std::filesystem::path& path) {
  constexpr std::pair<int, DiskType> kTypes[] = {
      {2, DiskType::kU8}, {4, DiskType::kI16}, {8, DiskType::kI32}, {16, DiskType::kF32}, {512, DiskType::kU16}};
  for (const auto& [code, type] : kTypes)
    if (code == h.datatype) return type;
  throw input_error(path, "holds " + h.scalar_type() + " voxels, which cannot be mapped",
                    "expected uint8, int16, uint16, int32 or float32");
}

}  // namespace

struct MappedVolume::Impl {
  Geometry geometry;
  DiskType type = DiskType::kF32;
  bool scaled = false;
  double slope = 1, intercept = 0;
  void* map = MAP_FAILED;
  std::size_t map_bytes = 0;
  std::int64_t data_begin = 0;
  std::atomic<std::int64_t> copied_bytes = 0;

  Impl() = default;
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    if (map != MAP_FAILED) ::munmap(map, map_bytes);
  }

  /// Element `index` of type T; memcpy because vox_offset need not be a multiple of the type's size.
  template <class T>
  T at(std::int64_t index) const {
    T value;
    std::memcpy(&value, static_cast<const char*>(map) + data_begin + index * static_cast<std::int64_t>(sizeof(T)),
                sizeof(T));
    return value;
  }

  std::int64_t voxel_bytes() const {
    std::int64_t bytes = 0;
    with_scalar(type, [&](auto zero) { bytes = sizeof zero; });
    return bytes;
  }

  template <class T, class U>
  void read_row(std::int64_t from, U* to, std::int64_t count) {
    copied_bytes += count * static_cast<std::int64_t>(sizeof(T));
    if (scaled) {
      for (std::int64_t i = 0; i < count; ++i)
        to[i] = U(static_cast<float>(slope * static_cast<double>(at<T>(from + i)) + intercept));
    } else if constexpr (std::is_same_v<U, BF16>) {
      for (std::int64_t i = 0; i < count; ++i) to[i] = BF16(static_cast<float>(at<T>(from + i)));
    } else {
      for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<U>(at<T>(from + i));
    }
  }

  template <class T>
  void read_row(std::int64_t from, const TensorView& dst, std::int64_t offset, std::int64_t count) {
    switch (dst.dtype) {
      case DType::kF32:
        return read_row<T>(from, dst.as<float>() + offset, count);
      case DType::kBF16:
        return read_row<T>(from, dst.as<BF16>() + offset, count);
      case DType::kF64:
        return read_row<T>(from, dst.as<double>() + offset, count);
      case DType::kI32:
        return read_row<T>(from, dst.as<std::int32_t>() + offset, count);
      case DType::kU8:
        return read_row<T>(from, dst.as<std::uint8_t>() + offset, count);
    }
  }
};

MappedVolume::MappedVolume(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
MappedVolume::~MappedVolume() = default;
MappedVolume::MappedVolume(MappedVolume&&) noexcept = default;
MappedVolume& MappedVolume::operator=(MappedVolume&&) noexcept = default;

MappedVolume MappedVolume::open(const std::filesystem::path& path) {
  const NiftiHeader header = read_nifti_header(path);
  if (path.extension() != kMappedEnding || !header.single_file)
    throw input_error(path, "cannot be mapped", "expected an uncompressed .nii file");
  if (header.big_endian != (std::endian::native == std::endian::big))
    throw input_error(path, "has the other byte order and cannot be mapped", "prepare the cache again on this machine");
  const std::string problem = volume_problem(header);
  if (!problem.empty()) throw input_error(path, problem, "prepare the cache again");
  require_possible_bytes(nifti_voxels(header, path), header.voxel_bytes());

  auto impl = std::make_unique<Impl>();
  impl->geometry = place(header).geometry;
  impl->type = type_of(header, path);
  impl->scaled = header.is_scaled();
  if (impl->scaled) impl->slope = header.slope, impl->intercept = header.intercept;
  impl->data_begin = header.data_begin();
  impl->map_bytes = static_cast<std::size_t>(header.data_begin() + header.voxel_bytes());
  const Descriptor file = open_regular_file(path);
  impl->map = ::mmap(nullptr, impl->map_bytes, PROT_READ, MAP_PRIVATE, file.number(), 0);
  if (impl->map == MAP_FAILED)
    throw input_error(path, "cannot be mapped into memory", "check the address space limit (ulimit -v)");
  return MappedVolume(std::move(impl));
}

const Geometry& MappedVolume::geometry() const { return impl_->geometry; }
DiskType MappedVolume::type() const { return impl_->type; }
DType MappedVolume::dtype() const { return impl_->type == DiskType::kF32 || impl_->scaled ? DType::kF32 : DType::kI32; }
Shape MappedVolume::shape() const { return impl_->geometry.shape(); }

void MappedVolume::will_need(const Box& box) const {
  if (box.empty()) return;
  const Shape whole = shape();
  const std::int64_t voxel = impl_->voxel_bytes();
  const std::int64_t page = ::sysconf(_SC_PAGESIZE);
  const std::int64_t begin = (impl_->data_begin + box.begin[0] * whole[1] * whole[2] * voxel) / page * page;
  const std::int64_t end = impl_->data_begin + box.end(0) * whole[1] * whole[2] * voxel;
  ::madvise(static_cast<char*>(impl_->map) + begin, static_cast<std::size_t>(end - begin), MADV_WILLNEED);
}

std::int64_t MappedVolume::voxel_bytes() const { return impl_->voxel_bytes(); }
std::int64_t MappedVolume::copied_bytes() const { return impl_->copied_bytes; }

void MappedVolume::forget() const { ::madvise(impl_->map, impl_->map_bytes, MADV_DONTNEED); }

void MappedVolume::read_box(const Box& box, const TensorView& dst) const {
  if (box.empty()) return;
  const Shape whole = shape();
  ensure(box.axes() == 3 && Box::whole(whole).contains(box), "a read box lies inside its volume");
  const int lead = dst.axes() == 5 ? 1 : 0;  // (1, D, H, W, 1) or (D, H, W)
  ensure(dst.axes() == 3 || (dst.axes() == 5 && dst.extent()[0] == 1 && dst.extent()[4] == 1),
         "a read goes to (D, H, W) or (1, D, H, W, 1)");
  for (int a = 0; a < 3; ++a)
    ensure(dst.extent()[lead + a] == box.extent[a], "a read box has the extents of its destination");
  const std::int64_t step = dst.strides[lead + 2];
  for (std::int64_t z = 0; z < box.extent[0]; ++z)
    for (std::int64_t y = 0; y < box.extent[1]; ++y) {
      const std::int64_t from = ((box.begin[0] + z) * whole[1] + box.begin[1] + y) * whole[2] + box.begin[2];
      const std::int64_t to = z * dst.strides[lead] + y * dst.strides[lead + 1];
      // A step other than 1 (a channel slice of a wider tensor) goes voxel by voxel.
      const std::int64_t runs = step == 1 ? 1 : box.extent[2], length = step == 1 ? box.extent[2] : 1;
      for (std::int64_t x = 0; x < runs; ++x)
        with_scalar(impl_->type,
                    [&](auto zero) { impl_->read_row<decltype(zero)>(from + x, dst, to + x * step, length); });
    }
}

}  // namespace voxshard
