#include "pipelines/tasks/segmentation/scores/probability_file.h"

#include <limits>
#include <numeric>

#include "io/archive/npz_writer.h"
#include "libcore/base/error.h"

namespace voxshard {

Tensor numbered_voxels(const Shape& sums) {
  const Shape shape{sums[0], sums[1], sums[2]};
  if (element_count(shape) > std::numeric_limits<std::int32_t>::max())
    throw Error(
        ErrorKind::kInput, "E_SIZE",
        "[predict] a volume of " + std::to_string(element_count(shape)) +
            " voxels on the grid of the model is larger than {probabilities} can write; expected at most 2^31 - "
            "1; crop it, or leave {probabilities} out");
  Tensor numbers(DType::kI32, shape);
  std::iota(numbers.as<std::int32_t>(), numbers.as<std::int32_t>() + numbers.count(), 1);
  return numbers;
}

void write_probabilities(const std::filesystem::path& path, const SpilledFloats& sums, std::int64_t times,
                         const Tensor& numbers) {
  const Shape& grid = numbers.shape();
  const std::int64_t classes = sums.shape()[3], slice = grid[1] * grid[2];
  const auto share = 1 / static_cast<float>(times);
  SpilledFloats::Visit visit(sums);
  std::vector<std::uint16_t> halves(static_cast<std::size_t>(slice));
  write_npz(path, {.name = "probabilities", .shape = {classes, grid[0], grid[1], grid[2]}}, [&](const PutHalves& put) {
    for (std::int64_t c = 0; c < classes; ++c)
      for (std::int64_t d = 0; d < grid[0]; ++d) {
        const auto* number = numbers.as<std::int32_t>() + d * slice;
        for (std::uint16_t& half : halves) {
          const std::int64_t voxel = *number++ - std::int64_t{1};
          half = half_bits(voxel < 0 ? (c == 0 ? 1.0F : 0.0F) : share * *visit.at(voxel * classes + c, 1));
        }
        put(halves);
      }
  });
}

}  // namespace voxshard
