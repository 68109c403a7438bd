// The axis of an op's result along which it is linear in the inputs that carry that axis. A weighted sum of the
// result's channels is then the result of the same op on the equally weighted sum of those inputs' channels, at the
// cost of one channel.
//
//   y = conv {x, w, bias}: sum over co of r[co] * y[v, co] = conv {x, sum of r[co] * w[k, ci, co], sum of r[co] *
//   bias[co]}
//
// A rule per family of attributes, as window_of() is: it does not depend on kernels. An op without such an axis costs
// little per element.
#pragma once

#include <optional>
#include <vector>

#include "libcore/graph/op_def.h"

namespace voxshard {

struct ChannelAxis {
  /// Channel c of the result is made of channel `first` + c along `axis` of `input`, and of no other channel of it.
  struct Carrier {
    std::size_t input = 0;
    int axis = 0;
    std::int64_t first = 0;
  };
  int axis = 0;  // of the result
  std::vector<Carrier> carriers;
  Attributes single;  // the op with one channel along that axis
};

/// For a convolution and its input gradient: the channels of the result. For a weight gradient: the input channels, so
/// that each tap and output channel stays a number of its own. Empty: the op has no such axis.
std::optional<ChannelAxis> channel_axis(const OpContext& op);

}  // namespace voxshard
