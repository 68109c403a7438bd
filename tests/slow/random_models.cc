#include "tests/slow/random_models.h"

#include <algorithm>
#include <vector>

#include "libcore/base/rng.h"

namespace voxshard {
namespace {

constexpr std::int64_t kMostCores = 16;

/// Draws the random numbers of one case, one after another.
class Draws {
 public:
  Draws(std::uint64_t seed, int index) : key_{seed, rng_stream("verify " + std::to_string(index))} {}
  std::int64_t from_to(std::int64_t least, std::int64_t most) {
    return least + rng_below(key_, at_++, most - least + 1);
  }
  std::string one_of(const std::vector<std::string>& words) {
    return words[from_to(0, static_cast<std::int64_t>(words.size()) - 1)];
  }

 private:
  RngKey key_;
  std::uint64_t at_ = 0;
};

using Extents = std::vector<std::int64_t>;

std::string joined(const Extents& numbers) {
  std::string text;
  for (const std::int64_t n : numbers) text += (text.empty() ? "" : "x") + std::to_string(n);
  return text;
}

/// Draws extents; at least one is odd, so that pools, strides and tiles leave a last voxel over.
Extents extents(Draws& draw, const Extents& least, const Extents& most) {
  Extents size;
  for (std::size_t a = 0; a < least.size(); ++a) size.push_back(draw.from_to(least[a], most[a]));
  size[draw.from_to(0, static_cast<std::int64_t>(size.size()) - 1)] |= 1;
  return size;
}

/// Draws parts of N and the spatial axes: at most 16 in all, and along no axis more than it has voxels.
std::string partition(Draws& draw, std::int64_t batch, const Extents& size) {
  Extents parts(size.size() + 2, 1);
  std::int64_t cores = 1;
  for (int tries = 0; tries < 3; ++tries) {
    const auto axis = static_cast<std::size_t>(draw.from_to(0, static_cast<std::int64_t>(size.size())));
    const std::int64_t extent = axis == 0 ? batch : size[axis - 1];
    const std::int64_t most = std::min(extent, kMostCores / (cores / parts[axis]));
    cores /= parts[axis];
    parts[axis] = draw.from_to(1, most);
    cores *= parts[axis];
  }
  return joined(parts);
}

struct Kind {
  const char* model;
  Extents least, most;
  std::string (*options)(Draws& draw);
};

std::string base(Draws& draw) { return " --base-filters " + std::to_string(draw.from_to(4, 8)); }

std::string unet(Draws& draw) {
  std::string options = base(draw) + " --depth " + std::to_string(draw.from_to(2, 4)) + " --norm " +
                        draw.one_of({"batch", "instance", "none"}) + " --activation " +
                        draw.one_of({"relu", "leaky_relu"}) + " --loss " +
                        draw.one_of({"dice_ce", "cross_entropy", "adaptive_dice32", "dice", "tversky"});
  // Nearest up-sampling cannot restore the plane that valid pooling drops.
  return options + draw.one_of({" --pool same --up deconvolution", " --pool same --up nearest",
                                " --pool valid --up deconvolution"});
}

std::string retinanet(Draws& draw) {
  return base(draw) + " --backbone " + draw.one_of({"resnet18", "resnet34", "resnet50"}) + " --pyramid-filters " +
         std::to_string(draw.from_to(8, 16)) + " --classes " + std::to_string(draw.from_to(3, 9));
}

std::string classifier(Draws& draw) { return base(draw) + " --classes " + std::to_string(draw.from_to(2, 9)); }

/// Returns the options of the digits model, whose size is a multiplier.
std::string digits(Draws&) { return " --size-multiplier 2"; }

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> kKinds = {
      {"unet3d", {8, 8, 8}, {21, 22, 23}, unet},    {"r2plus1d18", {5, 17, 17}, {11, 31, 31}, classifier},
      {"retinanet", {33, 33}, {80, 90}, retinanet}, {"resnet50", {25, 25}, {60, 60}, classifier},
      {"unet2d", {9, 9}, {50, 60}, unet},           {"resnet3d18", {5, 17, 17}, {12, 31, 31}, classifier},
      {"resnet18", {25, 25}, {70, 70}, classifier}, {"digits", {56, 56}, {56, 56}, digits},
      {"resnet34", {25, 25}, {60, 60}, classifier}};
  return kKinds;
}

}  // namespace

std::string random_verify(std::uint64_t seed, int index) {
  Draws draw(seed, index);
  const Kind& kind = kinds()[static_cast<std::size_t>(index) % kinds().size()];
  const bool digits = std::string(kind.model) == "digits";
  const Extents size = digits ? kind.least : extents(draw, kind.least, kind.most);
  const std::int64_t batch = draw.from_to(1, 4);
  std::string line = std::string("verify --model ") + kind.model;
  if (!digits) line += " --size " + joined(size);
  line += " --batch " + std::to_string(batch) + " --precision " + (index % 2 == 0 ? "f32" : "bf16") + " --partition " +
          partition(draw, batch, size) + kind.options(draw) + " --recompute " +
          draw.one_of({"none", "norms", "upsampling", "levels"}) + " --seed " + std::to_string(draw.from_to(0, 999));
  return line;
}

}  // namespace voxshard
