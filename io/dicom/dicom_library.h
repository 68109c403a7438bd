// Keeps DCMTK and GDCM quiet: they write warnings about every odd file to standard error, and names of files and
// patients with them.
//
//   const DicomLibrary library;     // in each function that calls one of them
#pragma once

namespace voxshard {

/// The first one that is made turns the messages off. Threads: any number at once.
struct DicomLibrary {
  DicomLibrary();
};

}  // namespace voxshard
