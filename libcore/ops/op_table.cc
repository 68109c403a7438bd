#include "libcore/ops/op_table.h"

namespace voxshard {

const OpTable& op_table() {
  static const OpTable table = [] {
    OpTable t;
    add_conv_ops(t);
    add_pool_ops(t);
    add_norm_ops(t);
    add_pointwise_ops(t);
    add_channel_ops(t);
    add_reduce_ops(t);
    add_loss_ops(t);
    add_detection_ops(t);
    return t;
  }();
  return table;
}

}  // namespace voxshard
