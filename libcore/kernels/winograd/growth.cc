#include "libcore/kernels/winograd/growth.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "libcore/kernels/winograd/points.h"

namespace voxshard::winograd {
namespace {

using Row = std::vector<double>;

double square_norm(const Row& row) {
  double sum = 0;
  for (double v : row) sum += v * v;
  return sum;
}

/// The coefficients of the product of (x - p) over all points but number `without`; -1: over all.
Row polynomial(const Row& points, int without) {
  Row product = {1};
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (static_cast<int>(i) == without) continue;
    Row next(product.size() + 1, 0.0);
    for (std::size_t k = 0; k < product.size(); ++k) {
      next[k + 1] += product[k];
      next[k] -= points[i] * product[k];
    }
    product = next;
  }
  return product;
}

/// The transforms as matrices with a row per transformed product, as axis_transforms-inl.h writes them.
struct Transforms {
  std::vector<Row> patch, weights, outputs;

  explicit Transforms(std::int64_t tile) {
    const Row points = tile == 4 ? Row{0, kA, -kA, kB, -kB} : Row{0, 1, -1};
    const auto powers = [](double x, std::int64_t count, double divisor) {
      Row row;
      for (std::int64_t k = 0; k < count; ++k) row.push_back(std::pow(x, k) / divisor);
      return row;
    };
    for (std::size_t i = 0; i < points.size(); ++i) {
      double others = 1;
      for (std::size_t j = 0; j < points.size(); ++j) others *= j == i ? 1 : points[i] - points[j];
      patch.push_back(polynomial(points, static_cast<int>(i)));
      weights.push_back(powers(points[i], 3, others));
      outputs.push_back(powers(points[i], tile, 1));
    }
    patch.push_back(polynomial(points, -1));
    weights.push_back({0, 0, 1});
    outputs.emplace_back(static_cast<std::size_t>(tile), 0.0);
    outputs.back().back() = 1;
  }
};

/// The growth when `last` makes results of `products` products each from operands that `first` and the patch transform
/// made.
double growth(const std::vector<Row>& patch, const std::vector<Row>& first, const std::vector<Row>& last,
              double products) {
  double most = 0;
  for (std::size_t result = 0; result < last[0].size(); ++result) {
    double sum = 0;
    for (std::size_t j = 0; j < last.size(); ++j)
      sum += last[j][result] * last[j][result] * square_norm(first[j]) * square_norm(patch[j]);
    most = std::max(most, std::sqrt(sum) / products);
  }
  return std::max(1.0, most);
}

template <class OfAxis>
double over_axes(const TileForm& form, OfAxis of_axis) {
  double all = 1;
  for (int a = 0; a < 3; ++a)
    if (form.outputs[a] > 1) all *= of_axis(Transforms(form.outputs[a]), static_cast<double>(form.outputs[a]));
  return all;
}

}  // namespace

double growth_of(const TileForm& form) {
  return over_axes(form, [](const Transforms& t, double) { return growth(t.patch, t.weights, t.outputs, 3); });
}

double weight_gradient_growth_of(const TileForm& form) {
  return over_axes(form, [](const Transforms& t, double tile) { return growth(t.patch, t.outputs, t.weights, tile); });
}

}  // namespace voxshard::winograd
