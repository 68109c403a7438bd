// The convolution oracle: each result element is one plain sum in double, in the order of the weights' memory.
//
// Inputs are first copied to dense double scratch (zero where the view holds nothing) so that the innermost loop runs
// over contiguous output channels; nothing else is done for speed.
#include "libcore/kernels/conv.h"

#include <vector>

#include "libcore/tensor/rows.h"

namespace voxshard::reference {
namespace {

/// The values of `view` over `box` as dense doubles, zero outside view.box.
std::vector<double> dense_doubles(const TensorView& view, const Box& box) {
  std::vector<double> values(static_cast<std::size_t>(box.count()), 0.0);
  const TensorView dense = dense_view(values.data(), DType::kF64, box);
  for_each_row(intersect(box, view.box), [&](const Dims& at) {
    load_row(view, offset_at(view, at), row_count(box), values.data() + offset_at(dense, at));
  });
  return values;
}

/// Returns the same for several views side by side in the channels; box has all of them.
std::vector<double> dense_doubles(std::span<const TensorView> parts, const Box& box) {
  std::vector<double> values(static_cast<std::size_t>(box.count()), 0.0);
  const TensorView dense = dense_view(values.data(), DType::kF64, box);
  std::int64_t channel = 0;
  for (const TensorView& part : parts) {
    Box wanted = box;
    wanted.set(4, part.box.begin[4], part.box.end(4));
    for_each_row(intersect(wanted, part.box), [&](const Dims& at) {
      Dims to = at;
      to[4] = channel;
      load_row(part, offset_at(part, at), row_count(wanted), values.data() + offset_at(dense, to));
    });
    channel += part.extent()[4];
  }
  return values;
}

/// The box that the outputs in `y` read: spatial axes by the window, N as in y, channels as in x.
Box read_box(const Box& y, const Box& x, const Window& window) {
  Box read = y;
  for (int a = 0; a < 3; ++a) {
    const std::int64_t first = y.begin[a + 1] * window.stride[a] - window.pad_lo[a];
    const std::int64_t last = (y.end(a + 1) - 1) * window.stride[a] - window.pad_lo[a] + window.span(a);
    read.set(a + 1, first, last);
  }
  read.set(4, x.begin[4], x.end(4));
  return read;
}

/// sum[j] += scale * row[j].
void add_scaled(double* sum, const double* row, double scale, std::int64_t count) {
  for (std::int64_t j = 0; j < count; ++j) sum[j] += scale * row[j];
}

/// The sum of a[i] * b[i], in eight strands: with one each addition would wait for the previous one.
double dot(const double* a, const double* b, std::int64_t count) {
  constexpr std::int64_t kStrands = 8;
  double strands[kStrands] = {};
  std::int64_t i = 0;
  for (; i + kStrands <= count; i += kStrands)
    for (std::int64_t s = 0; s < kStrands; ++s) strands[s] += a[i + s] * b[i + s];
  for (; i < count; ++i) strands[0] += a[i] * b[i];
  double sum = 0;
  for (double strand : strands) sum += strand;
  return sum;
}

/// sum[j] += sum over c of row[c] * matrix[c, j].
void add_product(double* sum, const double* row, const double* matrix, std::int64_t rows, std::int64_t columns) {
  if (columns == 1) {
    sum[0] += dot(row, matrix, rows);
    return;
  }
  for (std::int64_t c = 0; c < rows; ++c) add_scaled(sum, matrix + c * columns, row[c], columns);
}

std::vector<double> initial_row(const TensorView* bias, std::int64_t channels) {
  std::vector<double> row(static_cast<std::size_t>(channels), 0.0);
  if (bias != nullptr) load_row(*bias, 0, channels, row.data());
  return row;
}

}  // namespace

void conv_forward(const TensorView& x, const TensorView& w, const TensorView* bias, const TensorView& y,
                  const Window& window) {
  conv_forward(std::span(&x, 1), w, bias, y, window);
}

void conv_forward(std::span<const TensorView> x, const TensorView& w, const TensorView* bias, const TensorView& y,
                  const Window& window) {
  if (y.box.empty()) return;
  Box read = read_box(y.box, x[0].box, window);
  read.set(4, 0, w.extent()[3]);
  const std::vector<double> src = dense_doubles(x, read), weights = dense_doubles(w, w.box);
  const Dims step = dense_strides(read.extent);
  const std::int64_t ci = w.extent()[3], co = w.extent()[4];
  const std::vector<double> start = initial_row(bias, co);
  std::vector<double> sum(static_cast<std::size_t>(co));
  for_each_row(y.box, [&](const Dims& o) {
    sum = start;
    const double* tap = weights.data();
    for (std::int64_t kd = 0; kd < window.kernel[0]; ++kd)
      for (std::int64_t kh = 0; kh < window.kernel[1]; ++kh)
        for (std::int64_t kw = 0; kw < window.kernel[2]; ++kw, tap += ci * co) {
          const std::int64_t k[3] = {kd, kh, kw};
          std::int64_t at = (o[0] - read.begin[0]) * step[0];
          for (int a = 0; a < 3; ++a)
            at += (o[a + 1] * window.stride[a] - window.pad_lo[a] + k[a] * window.dilation[a] - read.begin[a + 1]) *
                  step[a + 1];
          add_product(sum.data(), src.data() + at, tap, ci, co);
        }
    store_row(y, offset_at(y, o), co, sum.data());
  });
}

void conv_input_grad(const TensorView& d_y, const TensorView& w, const TensorView* bias, const TensorView& d_x,
                     const Window& window) {
  if (d_x.box.empty()) return;
  const std::int64_t ci = w.extent()[3], co = w.extent()[4];
  const std::vector<double> src = dense_doubles(d_y, d_y.box), weights = dense_doubles(w, w.box);
  const Dims step = dense_strides(d_y.extent());
  // (K, Ci, Co) -> (K, Co, Ci), so that the innermost loop is contiguous here too.
  std::vector<double> turned(weights.size());
  for (std::int64_t k = 0; k < window.volume(); ++k)
    for (std::int64_t i = 0; i < ci; ++i)
      for (std::int64_t o = 0; o < co; ++o) turned[(k * co + o) * ci + i] = weights[(k * ci + i) * co + o];
  const std::vector<double> start = initial_row(bias, ci);
  std::vector<double> sum(static_cast<std::size_t>(ci));
  for_each_row(d_x.box, [&](const Dims& i) {
    sum = start;
    const double* tap = turned.data();
    for (std::int64_t kd = 0; kd < window.kernel[0]; ++kd)
      for (std::int64_t kh = 0; kh < window.kernel[1]; ++kh)
        for (std::int64_t kw = 0; kw < window.kernel[2]; ++kw, tap += ci * co) {
          const std::int64_t k[3] = {kd, kh, kw};
          std::int64_t at = (i[0] - d_y.box.begin[0]) * step[0];
          bool inside = i[0] >= d_y.box.begin[0] && i[0] < d_y.box.end(0);
          for (int a = 0; a < 3 && inside; ++a) {
            const std::int64_t scaled = i[a + 1] + window.pad_lo[a] - k[a] * window.dilation[a];
            const std::int64_t o = floor_div(scaled, window.stride[a]);
            inside = o * window.stride[a] == scaled && o >= d_y.box.begin[a + 1] && o < d_y.box.end(a + 1);
            at += (o - d_y.box.begin[a + 1]) * step[a + 1];
          }
          if (!inside) continue;
          add_product(sum.data(), src.data() + at, tap, co, ci);
        }
    store_row(d_x, offset_at(d_x, i), ci, sum.data());
  });
}

void conv_weight_grad(const TensorView& x, const TensorView& d_y, const TensorView& d_w, const Window& window) {
  const std::int64_t ci = d_w.extent()[3], co = d_w.extent()[4];
  if (d_y.box.empty()) return fill_zero(d_w);
  const Box read = read_box(d_y.box, x.box, window);
  const std::vector<double> src = dense_doubles(x, read), grad = dense_doubles(d_y, d_y.box);
  const TensorView dense_src = dense_view(nullptr, DType::kF64, read),
                   dense_grad = dense_view(nullptr, DType::kF64, d_y.box);
  std::vector<double> sum(static_cast<std::size_t>(ci * co));
  Dims tap = d_w.box.begin;
  for (std::int64_t kd = 0; kd < window.kernel[0]; ++kd)
    for (std::int64_t kh = 0; kh < window.kernel[1]; ++kh)
      for (std::int64_t kw = 0; kw < window.kernel[2]; ++kw) {
        const std::int64_t k[3] = {kd, kh, kw};
        std::fill(sum.begin(), sum.end(), 0.0);
        for_each_row(d_y.box, [&](const Dims& o) {
          Dims i = o;
          for (int a = 0; a < 3; ++a) {
            i[a + 1] = o[a + 1] * window.stride[a] - window.pad_lo[a] + k[a] * window.dilation[a];
            tap[a] = k[a];
          }
          i[4] = read.begin[4];
          const double* row = grad.data() + offset_at(dense_grad, o);
          const double* value = src.data() + offset_at(dense_src, i);
          for (std::int64_t c = 0; c < ci; ++c) add_scaled(sum.data() + c * co, row, value[c], co);
        });
        const std::int64_t at = offset_at(d_w, tap);
        for (std::int64_t c = 0; c < ci; ++c) store_row(d_w, at + c * d_w.strides[3], co, sum.data() + c * co);
      }
}

}  // namespace voxshard::reference
