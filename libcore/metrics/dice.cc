// One pass over two label maps counts all classes: equal labels add a true positive, unequal ones a false positive to
// the predicted class and a false negative to the true one; all remaining voxels are true negatives.
//
//   count_classes(prediction, reference, 8)[1].tp
#include "libcore/metrics/dice.h"

#include <cmath>
#include <limits>
#include <string>

#include "libcore/base/error.h"

namespace voxshard {
namespace {

/// Calls body(offset in a, offset in b, length) for each row of two views of equal extents.
template <class Body>
void for_each_row_pair(const TensorView& a, const TensorView& b, Body body) {
  if (a.box.empty()) return;
  if (a.axes() == 0) return body(0, 0, 1);
  Dims index = Dims::filled(a.axes(), 0);
  while (true) {
    std::int64_t at_a = 0, at_b = 0;
    for (int x = 0; x + 1 < a.axes(); ++x) at_a += index[x] * a.strides[x], at_b += index[x] * b.strides[x];
    body(at_a, at_b, a.extent().back());
    int x = a.axes() - 2;
    for (; x >= 0; --x) {
      if (++index[x] < a.extent()[x]) break;
      index[x] = 0;
    }
    if (x < 0) return;
  }
}

std::int64_t label_at(const TensorView& v, std::int64_t offset) {
  return v.dtype == DType::kI32 ? v.as<std::int32_t>()[offset] : v.as<std::uint8_t>()[offset];
}

/// Throws when the two are no label maps, or of unequal extents.
void require_comparable(const TensorView& prediction, const TensorView& reference) {
  if (!(prediction.extent() == reference.extent()))
    throw Error(ErrorKind::kInput, "[metrics] prediction has " + to_string(prediction.extent()) +
                                       " voxels, its reference " + to_string(reference.extent()) +
                                       "; compare label maps on the same grid");
  auto is_label = [](DType type) { return type == DType::kI32 || type == DType::kU8; };
  ensure(is_label(prediction.dtype) && is_label(reference.dtype), "label maps are i32 or u8");
}

}  // namespace

std::vector<ClassCounts> count_classes(const TensorView& prediction, const TensorView& reference, int classes,
                                       std::int64_t ignored) {
  require_comparable(prediction, reference);
  std::vector<ClassCounts> counts(static_cast<std::size_t>(classes));
  std::int64_t voxels = prediction.count();
  auto known = [&](std::int64_t label) { return label >= 0 && label < classes; };
  for_each_row_pair(prediction, reference, [&](std::int64_t p, std::int64_t r, std::int64_t length) {
    for (std::int64_t i = 0; i < length; ++i) {
      const std::int64_t mine = label_at(prediction, p + i), truth = label_at(reference, r + i);
      if (ignored >= 0 && truth == ignored) {
        --voxels;
        continue;
      }
      if (mine == truth) {
        if (known(mine)) ++counts[mine].tp;
        continue;
      }
      if (known(mine)) ++counts[mine].fp;
      if (known(truth)) ++counts[truth].fn;
    }
  });
  for (ClassCounts& c : counts) c.tn = voxels - c.tp - c.fp - c.fn;
  return counts;
}

ClassCounts count_region(const TensorView& prediction, const TensorView& reference, const LabelSet& region,
                         std::int64_t ignored) {
  require_comparable(prediction, reference);
  ClassCounts c;
  for_each_row_pair(prediction, reference, [&](std::int64_t p, std::int64_t r, std::int64_t length) {
    for (std::int64_t i = 0; i < length; ++i) {
      const std::int64_t truth = label_at(reference, r + i);
      if (ignored >= 0 && truth == ignored) continue;
      const bool mine = region.contains(label_at(prediction, p + i)), theirs = region.contains(truth);
      ++(mine ? (theirs ? c.tp : c.fp) : (theirs ? c.fn : c.tn));
    }
  });
  return c;
}

double dice(const ClassCounts& c) {
  const auto denominator = 2 * c.tp + c.fp + c.fn;
  if (denominator == 0) return std::numeric_limits<double>::quiet_NaN();
  return 2.0 * static_cast<double>(c.tp) / static_cast<double>(denominator);
}

double iou(const ClassCounts& c) {
  const auto denominator = c.tp + c.fp + c.fn;
  if (denominator == 0) return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(c.tp) / static_cast<double>(denominator);
}

double nan_mean(const std::vector<double>& values) {
  double sum = 0;
  int count = 0;
  for (double v : values)
    if (!std::isnan(v)) sum += v, ++count;
  return count ? sum / count : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace voxshard
