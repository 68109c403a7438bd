// Along which axis of its result an op is linear in the inputs that carry that axis: a sum of the result's channels,
// each times a number, is then the result of the same op of the summed channels of these inputs, at the cost of one
// channel.
//
//   y = conv {x, w, bias}: sum over co of r[co] * y[v, co] = conv {x, sum of r[co] * w[k, ci, co], sum of r[co] *
//   bias[co]}
//
// A rule of a family of attributes, as window_of() is: it says nothing of kernels. An op without costs little per
// element.
#pragma once

#include <optional>
#include <vector>

#include "libcore/graph/op_def.h"

namespace voxshard {

struct ChannelAxis {
  /// Channel c of the result is made of channel `first` + c along `axis` of `input`, and of no other of it.
  struct Carrier {
    std::size_t input = 0;
    int axis = 0;
    std::int64_t first = 0;
  };
  int axis = 0;  // of the result
  std::vector<Carrier> carriers;
  Attributes single;  // of the op with one channel there
};

/// Of a convolution and its input gradient the channels of the result; of a weight gradient the input channels, so that
/// each tap and output channel stays a number of its own. Empty: the op has no such axis.
std::optional<ChannelAxis> channel_axis(const OpContext& op);

}  // namespace voxshard
