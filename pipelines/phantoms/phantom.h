// Generated CT of a trunk, for demonstrations and tests without patient data: body with fat and muscle, lungs, liver
// with lesions, spine; heart, spleen, kidneys, bowel, ribs, table and blanket have the same HU as the labelled classes,
// so that a threshold is not enough. Smooth shapes, deformed from case to case; noise; varied spacing, size and
// orientation.
//
//   Phantom p = make_phantom({.seed = 0, .index = 3});
//   write_volume("phantom_003_0000.nii.gz", p.image, DiskType::kI16);
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/volume/volume.h"

namespace voxshard {

struct PhantomOptions {
  std::uint64_t seed = 0;
  int index = 0;      // number of the patient
  int subdivide = 1;  // 1: 48 to 80 voxels an axis; 2: twice as many, and so on
};

struct Phantom {
  Volume image;  // f32, whole HU in [-1024, 3071]
  Volume label;  // i32, an index into phantom_label_names()
};

enum PhantomLabel { kPhantomBackground, kPhantomLungs, kPhantomLiver, kPhantomLesion, kPhantomSpine };

/// "background", "lungs", "liver", "lesion", "spine".
const std::vector<std::string>& phantom_label_names();

/// Generates a CT; the same options give the same voxels. Each lesion is at least 10 voxels across on every axis before
/// the liver's edge cuts it. Cost: about 0.3 s and 2 MB at subdivide = 1.   Threads: any number at once.
Phantom make_phantom(const PhantomOptions& options);

/// "phantom_007".
std::string demo_id(int index);

}  // namespace voxshard
