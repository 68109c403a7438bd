// The parts of a page about how a run was made: the cut as an image, memory, time, data, settings and versions.
//
//   html += plan_section(run) + data_section(run) + settings_section(run);
#pragma once

#include <string>

#include "pipelines/report_page/run_data.h"

namespace voxshard {

/// The grid of the cores over a sample, the memory of each core and of the process, and where the time went.
std::string plan_section(const RunData& run);
/// The fingerprint of the data: cases, classes, spacing, intensities, hash.
std::string data_section(const RunData& run);
/// Settings with the layer that set each, and the versions of program, libraries and processor.
std::string settings_section(const RunData& run);

/// Returns the cut of a sample as SVG: a rectangle for each core, slab by slab along the first axis of a volume.
///   partition  "1x2x2x1x1": replicas left out
///   size       "64x64x64", the extents of a sample; another text: a sample without known extents
/// Empty for a partition that is none, and for one of more than 1024 cores.
std::string grid_svg(const std::string& partition, const std::string& size);

}  // namespace voxshard
