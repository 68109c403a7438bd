// All ops by name. A new op is a row in one of the families below, its rules in that family's file, a kernel and a
// test.
#pragma once

#include "libcore/graph/op_def.h"

namespace voxshard {

/// The table of every op; the same object for the life of the process.
const OpTable& op_table();

// The families, one file each.
void add_conv_ops(OpTable& table);       // conv, conv_input_grad, conv_weight_grad
void add_pool_ops(OpTable& table);       // max_pool, max_pool_argmax, max_pool_grad, avg_pool, ..., upsample_nearest
void add_norm_ops(OpTable& table);       // moment_sums, norm_stats, norm_apply, norm_grad_sums, norm_input_grad, ...
void add_pointwise_ops(OpTable& table);  // leaky_relu, add, scale, convert, one_like, broadcast_like, lerp
void add_channel_ops(OpTable& table);    // concat, slice
void add_reduce_ops(OpTable& table);     // channel_sum, sum_all
void add_loss_ops(OpTable& table);       // segmentation_sums, segmentation_loss, segmentation_grad
void add_detection_ops(OpTable& table);  // detection_sums, detection_loss, focal_grad, huber_grad, giou_grad

}  // namespace voxshard
