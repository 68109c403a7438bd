#include "libcore/models/layers.h"

#include <algorithm>

#include "libcore/base/rng.h"

namespace voxshard {
namespace {

Window unpadded(int axes, const PerAxis& kernel, const PerAxis& stride, const PerAxis& dilation = 1) {
  return {kernel.over(axes), stride.over(axes), dilation.over(axes), Dims::filled(axes, 0), Dims::filled(axes, 0)};
}

/// The extents of the spatial axes.
Dims spatial_extents(const Shape& shape) {
  Dims extents;
  for (int a = 1; a + 1 < shape.axes(); ++a) extents.push_back(shape[a]);
  return extents;
}

}  // namespace

ValueId Layers::parameter(const std::string& name, const Shape& shape, const ParameterInfo& info, bool shared) {
  const TensorType type{DType::kF32, shape};
  if (const ValueId known = b_.graph().find(name); shared && known != kNoValue) {
    ensure(b_.type(known) == type, ("layers that share the parameter " + name + " agree on its shape").c_str());
    return known;
  }
  return b_.parameter(name, type, info);
}

ValueId Layers::weights(const std::string& name, const Shape& shape, const ParameterInfo& info, bool shared) {
  const ValueId kernel =
      parameter(name + "/kernel", shape, {.begins = info.begins, .decays = true, .frozen = info.frozen}, shared);
  if (options_.dtype == DType::kF32) return kernel;
  const ValueId known = b_.graph().find(name + "/kernel/convert");
  if (shared && known != kNoValue) return known;
  return b_.op("convert", {kernel}, ConvertAttrs{.dtype = options_.dtype}, name + "/kernel/convert");
}

ValueId Layers::conv(std::vector<ValueId> x, const ConvOptions& options) {
  Window window = unpadded(spatial(x.front()), options.kernel, options.stride, options.dilation);
  if (options.padding == Padding::kSame) {
    set_same_padding(window, b_.type(x.front()).shape);
  } else if (options.padding == Padding::kFixed) {
    for (int a = 0; a < window.axes(); ++a) {
      window.pad_lo[a] = (window.span(a) - 1) / 2;
      window.pad_hi[a] = window.span(a) - 1 - window.pad_lo[a];
    }
  }
  std::int64_t channels = 0;
  for (ValueId part : x) channels += b_.type(part).shape.back();
  Shape shape = window.kernel;
  shape.push_back(channels);
  shape.push_back(options.filters);
  const bool shared = !options.weights.empty();
  const std::string& owner = shared ? options.weights : options.name;
  const std::size_t parts = x.size();
  x.push_back(weights(owner, shape, {.begins = options.kernel_begins, .frozen = options.frozen}, shared));
  if (options.bias)
    x.push_back(parameter(owner + "/bias", {options.filters},
                          {.begins = options.bias_begins, .decays = options_.biases_decay, .frozen = options.frozen},
                          shared));
  const bool narrow = options.f32_result && options_.dtype == DType::kBF16;
  const ConvAttrs attrs{
      .window = window, .parts = static_cast<std::int64_t>(parts), .dtype = narrow ? DType::kF32 : options_.dtype};
  return b_.op("conv", std::move(x), attrs, options.name);
}

Shape Layers::extents_of(ValueId like, ValueId channels_of) const {
  Shape shape = leading(b_.type(like).shape);
  shape.push_back(b_.type(channels_of).shape.back());
  return shape;
}

ValueId Layers::conv_transpose(ValueId x, ValueId like, const std::string& name) {
  const Shape shape = extents_of(like, x);
  Window window = unpadded(spatial(x), 2, 2);
  for (int a = 0; a < window.axes(); ++a)
    window.pad_hi[a] = std::max<std::int64_t>(0, 2 * b_.type(x).shape[a + 1] - shape[a + 1]);
  Shape kernel = window.kernel;  // as the gradient of a convolution from `shape` to x: (K, channels out, channels in)
  kernel.push_back(shape.back());
  kernel.push_back(b_.type(x).shape.back());
  const ValueId w = weights(name, kernel);
  const ValueId bias = parameter(name + "/bias", {shape.back()}, {.decays = options_.biases_decay});
  const ValueId y = b_.op("conv_input_grad", {x, w, bias},
                          ConvInputGradAttrs{.window = window, .shape = shape, .dtype = options_.dtype}, name);
  b_.graph().follow(y, like);
  return y;
}

ValueId Layers::activation(ValueId x, const std::string& name) {
  return b_.op("leaky_relu", {x}, ActivationAttrs{.slope = options_.slope}, name + "/activation");
}

ValueId Layers::norm_activation(ValueId x, const std::string& name, const NormLayer& layer) {
  const NormOptions& norm = options_.norm;
  const double slope = layer.slope.value_or(options_.slope);
  if (norm.kind == NormKind::kNone)
    return slope == 1 ? x : b_.op("leaky_relu", {x}, ActivationAttrs{.slope = slope}, name + "/activation");
  const Shape shape = b_.type(x).shape;
  const std::int64_t batch = shape[0], channels = shape.back();
  const bool running = norm.kind == NormKind::kBatch && !options_.training;
  NormAttrs attrs;
  attrs.batch = batch;
  attrs.groups = norm.kind == NormKind::kInstance ? batch : running ? 1 : norm.replicas;
  attrs.count = static_cast<double>(element_count(shape) / channels / attrs.groups);
  attrs.epsilon = norm.epsilon;
  attrs.slope = slope;
  attrs.dtype = options_.dtype == DType::kF64 ? DType::kF64 : DType::kF32;
  const ParameterInfo gamma_info{.begins = layer.gamma_begins, .decays = options_.norms_decay};
  const ValueId scale = layer.scale ? parameter(name + "/norm/gamma", {channels}, gamma_info) : kNoValue;
  const ValueId beta = parameter(name + "/norm/beta", {channels}, {.decays = options_.norms_decay});
  const ValueId gamma = layer.scale ? scale : b_.op("one_like", {beta}, {}, name + "/norm/gamma");
  ValueId moments = kNoValue;
  if (norm.kind == NormKind::kBatch)
    moments = b_.state(name + "/norm/moments", {DType::kF32, {channels, 2}}, initial::UnitMoments{});
  ValueId stats;
  if (running) {
    stats = b_.op("running_stats", {moments}, attrs, name + "/norm/stats");
  } else {
    const ValueId sums = b_.op("moment_sums", {x}, attrs, name + "/norm/sums");
    stats = b_.op("norm_stats", {sums}, attrs, name + "/norm/stats");
    if (moments != kNoValue) {
      const ValueId now = b_.op("group_moments", {sums}, attrs, name + "/norm/batch_moments");
      const ValueId next =
          b_.op("lerp", {moments, now}, LerpAttrs{.momentum = norm.momentum}, name + "/norm/next_moments");
      b_.graph().effects.emplace_back(moments, next);
    }
  }
  return b_.op("norm_apply", {x, stats, gamma, beta}, attrs, name + "/norm");
}

ValueId Layers::max_pool(ValueId x, const std::string& name, std::int64_t kernel, std::int64_t stride,
                         Padding padding) {
  Window window = unpadded(spatial(x), kernel, stride);
  if (padding == Padding::kSame) set_same_padding(window, b_.type(x).shape);
  ensure(padding != Padding::kFixed, "a pool is SAME or VALID");
  return b_.op("max_pool", {x}, PoolAttrs{.window = window}, name);
}

ValueId Layers::upsample(ValueId x, ValueId like, const std::string& name) {
  const ResizeAttrs attrs{.factor = Dims::filled(spatial(x), 2), .shape = extents_of(like, x)};
  const ValueId y = b_.op("upsample_nearest", {x}, attrs, name);
  b_.graph().follow(y, like);
  return y;
}

ValueId Layers::mean(ValueId x, const std::string& name) {
  const Dims extents = spatial_extents(b_.type(x).shape);
  return b_.op("avg_pool", {x}, PoolAttrs{.window = unpadded(spatial(x), extents, extents)}, name);
}

ValueId Layers::dense(ValueId x, ConvOptions options) {
  options.kernel = options.stride = spatial_extents(b_.type(x).shape);
  options.padding = Padding::kValid;
  return conv(x, options);
}

ValueId Layers::dropout(ValueId x, const std::string& name, double rate) {
  if (!options_.training) return x;
  ValueId draw = b_.graph().find("draw");
  if (draw == kNoValue) draw = b_.input("draw", {DType::kI32, {2}}, input::Draw{});
  const auto stream = static_cast<std::int64_t>(rng_stream(name) >> 1);
  return b_.op("dropout", {x, draw}, DropoutAttrs{.rate = rate, .stream = stream}, name);
}

}  // namespace voxshard
