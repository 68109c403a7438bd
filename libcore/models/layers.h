// Layers: the parameters and ops of a convolution, a norm, a skip. Models are written with these, in global shapes.
//
//   Layers l(builder, {.dtype = DType::kBF16, .training = true});
//   x = l.conv(x, {.name = "encoder0/conv0", .filters = 32, .kernel = 3});
//   x = l.norm_activation(x, "encoder0/conv0");
#pragma once

#include <optional>
#include <string>

#include "libcore/graph/builder.h"

namespace voxshard {

enum class NormKind { kBatch, kInstance, kNone };

struct NormOptions {
  NormKind kind = NormKind::kBatch;
  // batch norm uses separate statistics in this many equal parts of the batch (scope replica); 1 = all
  std::int64_t replicas = 1;
  double momentum = 0.99;
  double epsilon = 1e-3;
};

struct LayerOptions {
  DType dtype = DType::kF32;  // of activations and factors of products; parameters are f32
  bool training = true;       // batch norm uses the statistics of the batch, else the running ones
  NormOptions norm;
  double slope = 0;                                // activation below zero: 0 ReLU, 0.01 leaky ReLU
  bool biases_decay = false, norms_decay = false;  // weight decay applies to them as well as to kernels
};

/// One number for all spatial axes, or one for each.
struct PerAxis {
  PerAxis(std::int64_t all) : values{all} {}
  PerAxis(const Dims& each) : values(each) {}
  Dims over(int axes) const { return values.axes() == 1 ? Dims::filled(axes, values[0]) : values; }
  Dims values;
};

enum class Padding {
  kSame,   // ceil(extent / stride) windows, padding on both sides, an odd one on the high side
  kFixed,  // (span - 1) / 2 low, the rest of span - 1 high, for any extent: the strided convolutions of ResNet
  kValid,  // no padding: an incomplete last window is dropped
};

struct ConvOptions {
  std::string name;
  std::int64_t filters = 1;
  PerAxis kernel = 3;
  PerAxis stride = 1;
  PerAxis dilation = 1;
  bool f32_result = false;  // logits
  bool bias = true;
  bool frozen = false;  // its parameters keep their initial values
  Padding padding = Padding::kSame;
  Initial kernel_begins = initial::GlorotUniform{}, bias_begins = initial::Constant{0};
  std::string weights = {};  // name of parameters that several convolutions share; empty: `name`
};

constexpr double kNoActivation = 1;  // a slope that changes nothing

struct NormLayer {
  std::optional<double> slope = {};  // activation; empty: the options' slope, 1: none
  Initial gamma_begins = initial::Constant{1};
  bool scale = true;  // false: gamma is 1 and not a parameter
};

class Layers {
 public:
  Layers(Builder& builder, LayerOptions options) : b_(builder), options_(options) {}

  /// A convolution; several x lie side by side in the channels, as in a convolution of their
  /// concat, which is never made.
  ValueId conv(std::vector<ValueId> x, const ConvOptions& options);
  ValueId conv(ValueId x, const ConvOptions& options) { return conv(std::vector{x}, options); }
  /// Transposed convolution of kernel = stride = 2 with bias, to the extents of `like` (2 n - 1, 2 n or 2 n + 1 per
  /// axis; for 2 n + 1 the last plane is the bias alone) with the channels of x. The result is cut like `like`.
  ValueId conv_transpose(ValueId x, ValueId like, const std::string& name);
  /// The norm of the options, then the activation.
  ValueId norm_activation(ValueId x, const std::string& name, const NormLayer& layer = {});
  ValueId activation(ValueId x, const std::string& name);
  ValueId add(ValueId a, ValueId b, const std::string& name) { return b_.op("add", {a, b}, {}, name); }
  /// kSame: the last window of an odd extent is clipped; kValid: its last plane is dropped.
  ValueId max_pool(ValueId x, const std::string& name, std::int64_t kernel = 2, std::int64_t stride = 2,
                   Padding padding = Padding::kSame);
  /// Nearest up-sampling by 2, to the extents of `like`, with the channels of x. The result is cut like `like`.
  ValueId upsample(ValueId x, ValueId like, const std::string& name);
  /// The mean over all spatial axes, (N, 1, .., C).
  ValueId mean(ValueId x, const std::string& name);
  /// A dense layer: flattens and multiplies: (N, .., C) -> (N, 1, .., filters). One core of a replica gathers the parts
  /// of the others. Weights (extents of x .., C, filters).   options  name, filters, bias, f32_result, initial values
  ValueId dense(ValueId x, ConvOptions options);
  /// In training each element is zero with probability `rate`, else x / (1 - rate); it depends on the seed, the step
  /// and its global position. In prediction the result is x.
  ValueId dropout(ValueId x, const std::string& name, double rate);

 private:
  /// Makes the parameter `name`; a shared one is made once and then reused.
  ValueId parameter(const std::string& name, const Shape& shape, const ParameterInfo& info = {}, bool shared = false);
  /// Makes a kernel, to which weight decay applies, converted to the type of the multiplication.
  ValueId weights(const std::string& name, const Shape& shape,
                  const ParameterInfo& info = {.begins = initial::GlorotUniform{}}, bool shared = false);
  Shape extents_of(ValueId like, ValueId channels_of) const;
  int spatial(ValueId x) const { return b_.type(x).shape.axes() - 2; }

  Builder& b_;
  LayerOptions options_;
};

}  // namespace voxshard
