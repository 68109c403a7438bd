#include "pipelines/tasks/channel_grids.h"

#include <algorithm>
#include <cmath>

#include "io/datasets/hidden_paths.h"
#include "io/volume/archive.h"
#include "io/volume/upright.h"
#include "libcore/base/coded_text.h"
#include "libcore/base/text.h"

namespace voxshard {
namespace {

bool is_on_grid(const Geometry& grid, const Geometry& channel) {
  return grid.size == channel.size && same_geometry(grid, channel, kGridTolerance);
}

/// Says how a channel lies to the first one.
std::string resampled_text(std::size_t channel, const Geometry& own, const Geometry& grid) {
  std::string text = "W_RESAMPLED channel " + std::to_string(channel) + " lies on a grid of its own, " +
                     joined_text(own.size.data(), 3) + " voxels of " + joined_text(own.spacing.data(), 3, 3) +
                     " mm; it is resampled on that of the first channel, of which it covers " +
                     fixed_text(100 * covered_part(grid, own), 0) + " %";
  const auto volume_of = [](const Geometry& g) { return g.spacing[0] * g.spacing[1] * g.spacing[2]; };
  if (2 * volume_of(own) < volume_of(grid))
    text +=
        ". Its voxels are smaller, so that many of them do not count: the channel with the smallest should be first";
  return text;
}

/// Refuses two channels whose coordinates have nothing in common, as far as DICOM headers tell.
void require_one_frame(const Case& item, std::size_t channel, const VolumeFormats& formats, const std::string& what) {
  const std::string first = reference_of_image(item.images.front(), formats.limits).frame_of_reference_uid;
  const std::string own = reference_of_image(item.images.at(channel), formats.limits).frame_of_reference_uid;
  if (!first.empty() && !own.empty() && first != own)
    throw Error(ErrorKind::kInput, "E_FRAME",
                "[" + what +
                    "] the channel has another frame of reference than the first one: nothing says where it lies in "
                    "that; register it and export both in one frame");
}

}  // namespace

Setting channel_grids_setting(bool& resamples) {
  return {.name = "channel-grids",
          .help =
              "Channels of a case that lie on another grid than the first one, as a PET beside its CT: reject, or "
              "resample them linearly on the first channel's grid; predict does as prepare did",
          .value = named(resamples, {"reject", "resample"}),
          .choices = {"reject", "resample"}};
}

void require_same_channels(const Geometry& first, const Geometry& channel, const std::string& what) {
  const auto size_text = [](const Geometry& g) { return joined_text(g.size.data(), 3); };
  if (first.size != channel.size)
    throw Error(ErrorKind::kInput, "E_SHAPE",
                "[" + what + "] the channel has another shape; expected " + size_text(first) +
                    " voxels as the first channel; got " + size_text(channel) +
                    "; resample it on the first one's grid (channel-grids resample of prepare does)");
  if (!same_geometry(first, channel, kGridTolerance))
    throw Error(ErrorKind::kInput, "E_GEOMETRY",
                "[" + what + "] the channel has the first one's shape but another origin, spacing or direction (" +
                    orientation_code(first) + " and " + orientation_code(channel) +
                    "): its voxels would meet those of another place; resample it on the first one's grid "
                    "(channel-grids resample of prepare does)");
}

double covered_part(const Geometry& grid, const Geometry& volume) {
  constexpr std::int64_t kMost = 24;  // places along an axis
  std::int64_t within = 0, all = 0;
  const auto places = [&](std::size_t axis) { return std::min(kMost, grid.size[axis]); };
  const auto index = [&](std::size_t axis, std::int64_t i) {
    return (static_cast<double>(i) + 0.5) * static_cast<double>(grid.size[axis]) / static_cast<double>(places(axis)) -
           0.5;
  };
  for (std::int64_t z = 0; z < places(2); ++z)
    for (std::int64_t y = 0; y < places(1); ++y)
      for (std::int64_t x = 0; x < places(0); ++x) {
        const auto at = volume.index_of(grid.world({index(0, x), index(1, y), index(2, z)}));
        bool inside = true;
        for (std::size_t a = 0; a < 3; ++a)
          inside = inside && at[a] >= -0.5 && at[a] <= static_cast<double>(volume.size[a]) - 0.5;
        within += inside ? 1 : 0, ++all;
      }
  return all == 0 ? 0 : static_cast<double>(within) / static_cast<double>(all);
}

VolumeInfo channel_info(const Case& item, std::size_t channel, const VolumeInfo& first, bool resamples,
                        const VolumeFormats& formats) {
  if (channel == 0) return first;
  VolumeInfo info = read_volume_info(item.images.at(channel), formats);
  if (!resamples || !info.readable || is_on_grid(first.geometry, info.geometry)) return info;
  std::string said = resampled_text(channel, info.geometry, first.geometry);
  for (const CodedText& one : coded_texts(info.warning)) add_coded(said, one.code + " " + one.text);
  info.warning = said;
  info.extra_bytes += 4 * voxels_of(info.geometry);
  info.geometry = first.geometry;
  return info;
}

Volume read_channel(const Case& item, std::size_t channel, const Geometry& grid, bool resamples,
                    const VolumeFormats& formats) {
  const std::string what = shown_file(item, item.images.at(channel), "channel " + std::to_string(channel));
  Volume volume = read_image(item.images.at(channel), formats);
  if (!resamples || is_on_grid(grid, volume.geometry)) {
    require_same_channels(grid, volume.geometry, what);
    volume.geometry = grid;  // to the last bit, so that all channels are resampled, or none
    return volume;
  }
  require_one_frame(item, channel, formats, what);
  if (covered_part(grid, volume.geometry) == 0)
    throw Error(ErrorKind::kInput, "E_GEOMETRY",
                "[" + what + "] the channel shares no place with the first one; are both of one patient and scan?");
  return resample_on_grid(volume, grid);
}

}  // namespace voxshard
