// The routines of the seam: the arithmetic of tiles by hand-sized numbers, and tiles beside their emulation bit for
// bit.
#include <limits>

#include "tests/kernels/amx/amx_scene.h"

namespace voxshard {
namespace {

using namespace test;
using amx::kDepth, amx::kLineBytes, amx::kTileBytes, amx::kTileRows;

class AmxRoutines : public AmxTest {};
VOXSHARD_OVER_ROUTINES(AmxRoutines);

using Bytes = Place;  // on 64 bytes
Bytes bytes(std::int64_t count) {
  Place p = place(DType::kU8, Box::whole({count}));
  std::memset(p.memory.data(), 0xa5, static_cast<std::size_t>(count));
  return p;
}
void expect_equal(const Bytes& a, const Bytes& b, const std::string& what) {
  EXPECT_EQ(std::memcmp(a.memory.data(), b.memory.data(), static_cast<std::size_t>(a.memory.bytes())), 0) << what;
}

enum class Values { kNormal, kWide, kTiny, kHuge };
constexpr Values kValues[] = {Values::kNormal, Values::kWide, Values::kTiny, Values::kHuge};

/// Returns a random value. kWide: magnitudes from 2^-20 to 2^20; kTiny: products and sums around the smallest normal
/// number, operands below it among them; kHuge: sums that overflow.
float value_of(Values values, std::uint64_t stream, std::uint64_t i) {
  const double normal = rng_normal({.seed = kSeed, .stream = stream}, i);
  const auto exponent = [&](int least, int count) {
    return least +
           static_cast<int>(rng_below({.seed = kSeed + 1, .stream = stream}, i, static_cast<std::uint64_t>(count)));
  };
  switch (values) {
    case Values::kNormal:
      return static_cast<float>(normal);
    case Values::kWide:
      return static_cast<float>(std::ldexp(normal, exponent(-20, 41)));
    case Values::kTiny:
      return static_cast<float>(std::ldexp(normal, i % 7 == 0 ? -128 : exponent(-68, 10)));
    case Values::kHuge:
      return static_cast<float>(std::ldexp(normal, exponent(58, 6)));
  }
  return 0;
}

Bytes numbers(DType type, Values values, std::int64_t count, std::uint64_t stream) {
  Place p = place(type, Box::whole({count}));
  for (std::int64_t i = 0; i < count; ++i) store(p.view, i, value_of(values, stream, static_cast<std::uint64_t>(i)));
  return p;
}

TEST_P(AmxRoutines, AProductAddsEvenAndOddPlacesApartThenTheirSum) {
  Bytes a = place(DType::kBF16, Box::whole({512})), b = place(DType::kBF16, Box::whole({512})),
        c = place(DType::kF32, Box::whole({256}));
  // Row 1 of A is 4096, -4096, 1, 1 at places 0 .. 3; column 2 of B is 4096, 4096, 1, 1. In f32 2^24 + 1 is 2^24 and
  // -2^24 + 1 is exact: their sum is 1, where one place after another would give 2.
  const float in_a[] = {4096, -4096, 1, 1}, in_b[] = {4096, 4096, 1, 1};
  for (std::int64_t k = 0; k < 4; ++k) {
    store(a.view, 1 * kDepth + k, in_a[k]);
    store(b.view, k / 2 * kDepth + 2 * 2 + k % 2, in_b[k]);
  }
  store(a.view, 3 * kDepth, 0x1p-127F);  // below the smallest normal number: zero
  store(b.view, 2 * 5, 0x1p+126F);
  store(a.view, 4 * kDepth, 0x1p-70F);  // a product below it: zero
  store(b.view, 2 * 6, 0x1p-60F);
  store(c.view, 4 * 16 + 6, 0x1p-130F);  // and a sum before it
  const std::byte* x = b.memory.data();
  const amx::GroupProducts p{
      .d_y = {a.memory.data(), nullptr}, .x = &x, .offsets = {0, 0}, .x_blocks = 1, .sums = c.memory.data()};
  const amx::TileScope scope(routines());
  routines().multiply_groups(p, 0, 1, false);
  EXPECT_EQ(load(c.view, 1 * 16 + 2), 1);
  EXPECT_EQ(load(c.view, 3 * 16 + 5), 0);
  EXPECT_EQ(load(c.view, 4 * 16 + 6), 0);
}

TEST_P(AmxRoutines, GroupsAreMultipliedAsTheEmulationDoes) {
  constexpr std::int64_t kGroups = 3;
  for (Values values : kValues)
    for (int d_y_blocks : {1, 2})
      for (int x_blocks : {1, 2})
        for (bool zero : {true, false}) {
          const Bytes d_y = numbers(DType::kBF16, values, 2 * kGroups * 512, 1),
                      x = numbers(DType::kBF16, values, 2 * kGroups * 512, 2);
          const std::byte* at[kGroups];
          for (std::int64_t g = 0; g < kGroups; ++g) at[g] = x.memory.data() + g * kTileBytes;
          const auto sums = [&](const amx::Routines& r) {
            Bytes c = numbers(DType::kF32, values, 4 * 256, 3);
            const amx::TileScope scope(r);
            r.multiply_groups(
                {.d_y = {d_y.memory.data(), d_y_blocks > 1 ? d_y.memory.data() + kGroups * kTileBytes : nullptr},
                 .x = at,
                 .offsets = {0, kGroups * kTileBytes},
                 .x_blocks = x_blocks,
                 .sums = c.memory.data()},
                0, kGroups, zero);
            return c;
          };
          expect_equal(sums(amx::kEmulated), sums(routines()), "values " + std::to_string(static_cast<int>(values)));
        }
}

TEST_P(AmxRoutines, TapsAreMultipliedAsTheEmulationDoes) {
  constexpr std::int64_t kTiles = 3, kPlanes = 2, kChunks = 2, kTaps = 3, kLines = 64;
  for (Values values : kValues)
    for (bool two : {true, false}) {
      const Bytes source = numbers(DType::kBF16, values, kChunks * kPlanes * kLines * kDepth, 4),
                  weights = numbers(DType::kBF16, values, kChunks * kPlanes * kTaps * 1024, 5);
      std::vector<const std::byte*> voxels;
      for (std::int64_t k = 0; k < kPlanes; ++k)
        for (std::int64_t t = 0; t < kTiles; ++t)
          voxels.push_back(source.memory.data() + (k * kLines + t * 15) * kLineBytes);
      const std::int64_t taps[kTaps] = {0, kLineBytes, 2 * kLineBytes}, ahead[kTaps] = {0, 0, 0};
      const auto sums = [&](const amx::Routines& r) {
        Bytes c = bytes(kTiles * 2 * kTileBytes);
        const amx::TapProducts p{.voxels = voxels.data(),
                                 .tiles = kTiles,
                                 .planes = kPlanes,
                                 .chunk_bytes = kPlanes * kLines * kLineBytes,
                                 .taps = taps,
                                 .ahead = ahead,
                                 .tap_count = kTaps,
                                 .weights = {weights.memory.data(), two ? weights.memory.data() + kTileBytes : nullptr},
                                 .sums = c.memory.data()};
        const amx::TileScope scope(r);
        r.multiply_taps(p, 0, kTiles, 0, 3);  // in two rounds
        r.multiply_taps(p, 0, kTiles, 3, kPlanes * kChunks);
        return c;
      };
      expect_equal(sums(amx::kEmulated), sums(routines()), two ? "two blocks" : "one block");
    }
}

TEST_P(AmxRoutines, VoxelsAreCopiedAsTheEmulationDoes) {
  for (std::int64_t channels : {1, 15, 16, 17, 32, 33, 50, 64})
    for (std::int64_t first : {-1, 0, 2})
      for (std::int64_t past : {3, 9, 20}) {
        const std::int64_t stride = channels + 5;
        const Bytes voxels = numbers(DType::kBF16, Values::kNormal, 20 * stride, 6);
        const amx::VoxelRow row{.data = voxels.memory.as<std::uint16_t>() - first * stride,
                                .stride = stride,
                                .first = first,
                                .past = past,
                                .channels = channels};
        const std::string what = std::to_string(channels) + " channels " + std::to_string(first);
        const auto lines = [&](const amx::Routines& r) {
          Bytes to = bytes(2 * 16 * kLineBytes);
          r.copy_lines(row, 1, 12, to.memory.data(), 16 * kLineBytes);
          return to;
        };
        expect_equal(lines(amx::kEmulated), lines(routines()), what);
        for (std::int64_t copies : {1, 2, 3, 5}) {
          const auto pairs = [&](const amx::Routines& r) {
            Bytes to = bytes(4 * 64 * kLineBytes);
            r.copy_pairs(row, {.data = to.memory.data(),
                               .pairs = 7,
                               .copies = copies,
                               .copy_bytes = 9 * kLineBytes,
                               .block_bytes = 64 * kLineBytes});
            return to;
          };
          expect_equal(pairs(amx::kEmulated), pairs(routines()), what + " copies " + std::to_string(copies));
        }
      }
}

TEST_P(AmxRoutines, WeightsAndResultsAreRoundedAsTheEmulationDoes) {
  for (Values values : kValues)
    for (std::int64_t channels : {1, 5, 15, 16, 17, 31, 32}) {
      const std::int64_t results = std::min<std::int64_t>(channels, 16);
      for (DType type : {DType::kF32, DType::kBF16})
        for (bool turned : {false, true}) {
          const Bytes w = numbers(type, values, 40 * 40, 7);
          const auto packed = [&](const amx::Routines& r) {
            Bytes to = bytes(kTileBytes);
            r.pack_weights({.data = w.memory.data(),
                            .bf16 = type == DType::kBF16,
                            .source_stride = turned ? 1 : 40,
                            .result_stride = turned ? 40 : 1,
                            .sources = channels,
                            .results = results},
                           to.memory.data());
            return to;
          };
          expect_equal(packed(amx::kEmulated), packed(routines()), turned ? "turned weights" : "weights");
        }
      const Bytes sums = numbers(DType::kF32, values, 2 * 256, 8), bias = numbers(DType::kF32, values, 32, 9);
      const auto narrow = [&](const amx::Routines& r) {
        Bytes to = bytes(16 * 35 * 2);
        r.store_bf16(sums.memory.data(), 11, bias.memory.as<float>(), channels, to.memory.as<std::uint16_t>(), 35);
        return to;
      };
      const auto wide = [&](const amx::Routines& r) {
        Bytes to = bytes(16 * 35 * 4);
        r.store_f32(sums.memory.data(), 11, bias.memory.as<float>(), channels, to.memory.as<float>(), 35);
        return to;
      };
      expect_equal(narrow(amx::kEmulated), narrow(routines()), std::to_string(channels) + " channels in bf16");
      expect_equal(wide(amx::kEmulated), wide(routines()), std::to_string(channels) + " channels in f32");
    }
}

TEST_P(AmxRoutines, ATileIsTurnedInPlaceToo) {
  const Bytes from = numbers(DType::kF32, Values::kNormal, 256, 10);
  for (bool past_cache : {false, true}) {
    Bytes to = bytes(kTileRows * 2 * kLineBytes), same = place(DType::kF32, Box::whole({256}));
    routines().transpose(from.memory.data(), to.memory.data(), 2 * kLineBytes, past_cache);
    routines().end_past_cache();
    std::memcpy(same.memory.data(), from.memory.data(), kTileBytes);
    routines().transpose(same.memory.data(), same.memory.data(), kLineBytes, false);
    for (std::int64_t i = 0; i < 16; ++i)
      for (std::int64_t j = 0; j < 16; ++j) {
        EXPECT_EQ(to.memory.as<float>()[j * 32 + i], from.memory.as<float>()[i * 16 + j]);
        EXPECT_EQ(same.memory.as<float>()[j * 16 + i], from.memory.as<float>()[i * 16 + j]);
      }
  }
}

TEST_P(AmxRoutines, KernelsGiveTheBitsOfTheEmulation) {
  for (const Case& c : {case_of(window_of(3, 3, 1, 1, 1, 1), {5, 9, 16}, 48, 33, 2),
                        case_of(window_of(2, 3, 1, 1, 0, 2), {9, 19}, 20, 16, 1)}) {
    const Operands o(c, DType::kBF16, 0, false);
    for (DType type : {DType::kF32, DType::kBF16})
      for (auto direction : {ConvDirection::kForward, ConvDirection::kInputGrad}) {
        const bool forward = direction == ConvDirection::kForward;
        const auto result = [&](const amx::Routines& r) {
          Place to = place(type, forward ? c.y_box() : c.x_box());
          run_amx({.window = c.window, .weights = c.weights(), .direction = direction, .routines = r},
                  {forward ? o.x.view : o.d_y.view}, o.w.view, nullptr, to.view);
          return to;
        };
        expect_same_bits(result(amx::kEmulated).view, result(routines()).view, c.name);
      }
    const auto gradient = [&](const amx::Routines& r) {
      Place to = place(DType::kF32, Box::whole(c.weights()));
      run_amx_gradient({.window = c.window, .weights = c.weights(), .routines = r}, {o.x.view}, o.d_y.view, to.view);
      return to;
    };
    expect_same_bits(gradient(amx::kEmulated).view, gradient(routines()).view, c.name + " weight gradient");
  }
}

}  // namespace
}  // namespace voxshard
