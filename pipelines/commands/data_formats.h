// The formats of data that this build reads and writes, from the tables of io: for `voxshard help formats`.
//
//   for (const DataFormat& row : data_formats()) row.read;     // ".nii, .nii.gz, or a .hdr/.img pair"
#pragma once

#include <string>
#include <vector>

namespace voxshard {

struct DataFormat {
  std::string data;     // "volumes"
  std::string format;   // "NIfTI"
  std::string read;     // names of files that can be read, for people
  std::string written;  // the same for files that can be written; empty: none
};

std::vector<DataFormat> data_formats();

}  // namespace voxshard
