#include "libcore/ops/box_rules.h"

namespace voxshard {

Box window_reads(const Window& window, const Box& out, std::int64_t channels) {
  Box in = out;
  for (int a = 0; a < window.axes(); ++a) {
    const std::int64_t first = out.begin[a + 1] * window.stride[a] - window.pad_lo[a];
    const std::int64_t last = (out.end(a + 1) - 1) * window.stride[a] - window.pad_lo[a] + window.span(a) - 1;
    in.set(a + 1, first, last + 1);
  }
  in.set(in.axes() - 1, 0, channels);
  return in;
}

Box windows_reading(const Window& window, const Box& in, std::int64_t channels) {
  Box out = in;
  for (int a = 0; a < window.axes(); ++a) {
    const std::int64_t s = window.stride[a];
    const std::int64_t low = in.begin[a + 1] + window.pad_lo[a];
    const std::int64_t first = std::min(ceil_div(low - (window.span(a) - 1), s), floor_div(low, s));
    const std::int64_t last = floor_div(in.end(a + 1) - 1 + window.pad_lo[a], s);
    out.set(a + 1, first, last + 1);
  }
  out.set(out.axes() - 1, 0, channels);
  return out;
}

Box clip(const Box& box, const Shape& shape) { return intersect(box, Box::whole(shape)); }

Box loss_needs(const OpContext& op, int input, const Box& iteration) {
  return input == 0 ? iteration : Box::none(op.inputs[input].shape.axes());
}

Shape lifted(const Shape& shape) {
  Shape out{shape[0]};
  for (int fill = shape.axes(); fill < 5; ++fill) out.push_back(1);
  for (int a = 1; a < shape.axes(); ++a) out.push_back(shape[a]);
  return out;
}

void require(bool ok, const std::string& text) {
  if (!ok) throw Error(ErrorKind::kConfig, text);
}

void require_shape(std::span<const TensorType> inputs, std::size_t input, const Shape& expected) {
  require(inputs.size() > input, "expected at least " + std::to_string(input + 1) + " inputs");
  require(inputs[input].shape == expected, "expected input " + std::to_string(input) + " of shape " +
                                               to_string(expected) + ", got " + to_string(inputs[input].shape));
}

}  // namespace voxshard
