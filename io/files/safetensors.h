// The safetensors file format: u64 little-endian length of a JSON header, the header {name: {dtype, shape,
// data_offsets}}, then the raw row-major bytes. Tensors lie in the order given, so equal input gives equal bytes;
// Python reads the file with its `safetensors` package. Checkpoints use it. The header's "__metadata__" holds a hash of
// each tensor and of the header itself, checked on loading; files of other tools, without them, load too.
//
//   save_safetensors("last.safetensors", {{"enc0.weight", weight}}, {{"step", "120"}});
//   SafetensorsFile file = load_safetensors("last.safetensors");
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "libcore/tensor/tensor.h"

namespace voxshard {

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

/// A dense view to be saved without a copy.
struct NamedView {
  std::string name;
  TensorView view;
};

struct SafetensorsFile {
  std::vector<NamedTensor> tensors;             // in the order of their bytes
  std::map<std::string, std::string> metadata;  // "__metadata__", without the hashes
  bool has_hashes = false;                      // true: the file has hashes, and they match
  /// Returns the tensor of this name; null when there is none.
  const Tensor* find(const std::string& name) const;
};

/// Writes the file atomically. dtypes F32, BF16, F64, I32, U8; the header is padded with spaces to a multiple of 8.
/// Errors: kOutput; kInternal for equal names, the name "__metadata__" or a view that is not dense.
void save_safetensors(const std::filesystem::path& path, const std::vector<NamedTensor>& tensors,
                      const std::map<std::string, std::string>& metadata = {});
void save_safetensors(const std::filesystem::path& path, const std::vector<NamedView>& tensors,
                      const std::map<std::string, std::string>& metadata = {});

/// Reads and checks everything: header length, JSON, types, shapes, offsets without gaps or overlaps, file size,
/// hashes. Errors: kInput when the file is missing; kCheckpoint for anything wrong in it.
SafetensorsFile load_safetensors(const std::filesystem::path& path);

}  // namespace voxshard
