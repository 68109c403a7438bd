// What `voxshard convert` is asked for.
//
//   volumes_from_records({.input = "records", .output = "data"}, inputs, failures, progress);
#pragma once

#include <filesystem>
#include <string>

#include "io/records/record_file.h"
#include "libcore/tensor/shape.h"

namespace voxshard {

struct ConvertRequest {
  std::filesystem::path input, output;
  Shape shape = {};        // of volumes in records, (D, H, W), as in CtReading; rank 0: not said
  bool one_hot = true;     // labels of volumes that become records
  bool compressed = true;  // records of volumes; those of images never are: PNG and JPEG are packed already
  int files = 1;           // that images are spread over
  int threads = 1;
};

}  // namespace voxshard
