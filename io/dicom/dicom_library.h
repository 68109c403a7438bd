// Keeps GDCM quiet: it writes warnings about every odd file to standard error, and names of files and patients with
// them.
//
//   const DicomLibrary library;     // in each function that calls GDCM
#pragma once

namespace voxshard {

/// The first one that is made turns the messages off. Threads: any number at once.
struct DicomLibrary {
  DicomLibrary();
};

}  // namespace voxshard
