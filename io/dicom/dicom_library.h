// Keeps DCMTK quiet: it writes warnings about every odd file to standard error, and names of files and patients with
// them.
//
//   const DicomLibrary library;     // in each function that calls it
#pragma once

namespace voxshard {

/// The first one that is made turns the messages off. Threads: any number at once.
struct DicomLibrary {
  DicomLibrary();
};

/// Returns true where the pixels of a transfer syntax, a DcmXfer, are in fragments. Its own word for it was renamed in
/// DCMTK 3.6.8.
template <typename Syntax>
bool is_encapsulated(const Syntax& syntax) {
  if constexpr (requires { syntax.usesEncapsulatedFormat(); })
    return syntax.usesEncapsulatedFormat();
  else
    return syntax.isEncapsulated();
}

}  // namespace voxshard
