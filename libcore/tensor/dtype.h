// Element types and bfloat16. bf16 is the upper half of an f32: 8 exponent bits, 7 mantissa bits, round to nearest
// even.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace voxshard {

enum class DType : std::uint8_t { kF32, kBF16, kF64, kI32, kU8 };

constexpr std::int64_t dtype_bytes(DType type) {
  switch (type) {
    case DType::kF64:
      return 8;
    case DType::kF32:
    case DType::kI32:
      return 4;
    case DType::kBF16:
      return 2;
    case DType::kU8:
      return 1;
  }
  return 0;
}

constexpr const char* dtype_name(DType type) {
  switch (type) {
    case DType::kF64:
      return "f64";
    case DType::kF32:
      return "f32";
    case DType::kI32:
      return "i32";
    case DType::kBF16:
      return "bf16";
    case DType::kU8:
      return "u8";
  }
  return "?";
}

constexpr bool is_float(DType type) { return type == DType::kF32 || type == DType::kBF16 || type == DType::kF64; }

struct BF16 {
  std::uint16_t bits = 0;

  BF16() = default;
  constexpr explicit BF16(float value) : bits(round(std::bit_cast<std::uint32_t>(value))) {}
  constexpr explicit operator float() const { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

 private:
  static constexpr std::uint16_t round(std::uint32_t word) {
    if ((word & 0x7fffffffU) > 0x7f800000U) return static_cast<std::uint16_t>((word >> 16) | 0x40U);  // quiet NaN
    return static_cast<std::uint16_t>((word + 0x7fffU + ((word >> 16) & 1U)) >> 16);
  }
};

static_assert(sizeof(BF16) == 2);

}  // namespace voxshard
