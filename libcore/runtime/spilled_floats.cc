#include "libcore/runtime/spilled_floats.h"

namespace voxshard {
namespace {

constexpr std::int64_t kUnit = std::int64_t{1} << 16;   // bytes that one fault may bring in, those around it included
constexpr std::int64_t kPiece = std::int64_t{8} << 20;  // bytes that a thread brings in before it lets them go

}  // namespace

void SpilledFloats::make(const Shape& shape, int file) {
  memory_ = {}, file_ = nullptr, shape_ = shape;
  if (file < 0) {
    memory_ = Tensor(DType::kF32, shape);
    data_ = memory_.as<float>();
    return;
  }
  file_ = std::make_unique<Arena>(bytes_of(shape), FileRange{.descriptor = file});
  data_ = reinterpret_cast<float*>(file_->at(0, bytes_of(shape)));
}

std::int64_t SpilledFloats::window_bytes(int threads) { return (threads + 1) * (kPiece + 2 * kUnit); }

std::int64_t SpilledFloats::resident_bytes(int threads) const {
  return file_ != nullptr ? window_bytes(threads) : memory_.bytes();
}

void SpilledFloats::Visit::come_to(std::int64_t first, std::int64_t count) {
  constexpr std::int64_t kFloats = kUnit / dtype_bytes(DType::kF32);
  const std::int64_t begin = first / kFloats, last = (first + count - 1) / kFloats;
  units_ += last - begin + (begin != unit_ ? 1 : 0);
  unit_ = last;
  if (units_ * kUnit < kPiece) return;
  all_.evict();
  units_ = last - begin + 1;
}

}  // namespace voxshard
