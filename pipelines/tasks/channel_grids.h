// Channels of a case on grids of their own, such as the PET of a scan beside its CT: refused, or resampled on the grid
// of the first channel where the user asks for it.
//
//   VolumeInfo pet = channel_info(item, 1, ct, plan.resamples_channels, formats);   // as it is read, with W_RESAMPLED
//   Volume read = read_channel(item, 1, ct.geometry, plan.resamples_channels, formats);
#pragma once

#include "io/datasets/dataset.h"
#include "io/volume/volume.h"
#include "pipelines/settings/setting.h"

namespace voxshard {

/// Tolerance for origin (mm), spacing (mm) and direction of volumes on one grid, which may differ by the rounding of
/// f32 headers.
inline constexpr double kGridTolerance = 1e-2;

/// Throws kInput, E_SHAPE or E_GEOMETRY, when a channel is not on the grid of the first channel.
void require_same_channels(const Geometry& first, const Geometry& channel, const std::string& what);

/// Returns the setting, the same for prepare and check.
Setting channel_grids_setting(bool& resamples);

/// Returns the header of a channel as read_channel reads it: of one that is resampled the grid is that of the first, a
/// warning says so (W_RESAMPLED), and its own voxels are among extra_bytes. Errors: as read_volume_info.
VolumeInfo channel_info(const Case& item, std::size_t channel, const VolumeInfo& first, bool resamples,
                        const VolumeFormats& formats);

/// Reads a channel behind the first. One that is resampled is interpolated linearly, and takes its lowest value where
/// it does not reach. Errors: as read_image; kInput E_SHAPE, E_GEOMETRY when it is not on the grid of the first and not
/// resampled; E_GEOMETRY when it shares no place with the first; E_FRAME when DICOM headers say that their coordinates
/// are not the same.
///   grid  of the first channel
Volume read_channel(const Case& item, std::size_t channel, const Geometry& grid, bool resamples,
                    const VolumeFormats& formats);

/// Returns the part of the voxels of a grid that lie in a volume, from 0 to 1, by a sample of them.
double covered_part(const Geometry& grid, const Geometry& volume);

}  // namespace voxshard
