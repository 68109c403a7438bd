#include "libcore/metrics/labelled_time.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "libcore/base/error.h"
#include "libcore/metrics/share.h"

namespace voxshard {
namespace {

void require_in_order(std::span<const LabelledTime> line, std::int64_t classes) {
  double end_s = -std::numeric_limits<double>::infinity();
  for (const LabelledTime& t : line) {
    ensure(std::isfinite(t.begin_s) && std::isfinite(t.end_s) && end_s <= t.begin_s && t.begin_s <= t.end_s,
           "a time line is in order");
    ensure(t.label >= 0 && t.label < classes, "a label is a class");
    end_s = t.end_s;
  }
}

}  // namespace

std::vector<double> time_confusion(std::span<const LabelledTime> found, std::span<const LabelledTime> truth,
                                   std::int64_t classes) {
  require_in_order(found, classes), require_in_order(truth, classes);
  std::vector<double> seconds(static_cast<std::size_t>(classes * (classes + 1)), 0);
  const auto add = [&](std::int64_t row, std::int64_t column, double s) { seconds[row * (classes + 1) + column] += s; };
  std::size_t first = 0;  // first interval of `found` that may overlap this or a later label
  for (const LabelledTime& t : truth) {
    while (first < found.size() && found[first].end_s <= t.begin_s) ++first;
    double said_s = 0;
    for (std::size_t i = first; i < found.size() && found[i].begin_s < t.end_s; ++i) {
      const double s = std::min(t.end_s, found[i].end_s) - std::max(t.begin_s, found[i].begin_s);
      add(t.label, found[i].label, s), said_s += s;
    }
    add(t.label, classes, std::max(0.0, t.end_s - t.begin_s - said_s));
  }
  return seconds;
}

TimeScores time_scores(std::span<const double> confusion, std::int64_t classes) {
  ensure(std::ssize(confusion) == classes * (classes + 1), "a confusion of time has a row per class");
  TimeScores scores{.classes = std::vector<ClassTime>(static_cast<std::size_t>(classes))};
  for (std::int64_t row = 0; row < classes; ++row)
    for (std::int64_t column = 0; column <= classes; ++column) {
      const double s = confusion[row * (classes + 1) + column];
      scores.labelled_s += s, scores.classes[row].true_s += s;
      if (column == classes) continue;
      scores.found_s += s, scores.classes[column].found_s += s;
      if (row == column) scores.right_s += s;
    }
  scores.accuracy = share(scores.right_s, scores.labelled_s);
  for (std::int64_t c = 0; c < classes; ++c) {
    ClassTime& of = scores.classes[c];
    const double right_s = confusion[c * (classes + 1) + c];
    of.recall = share(right_s, of.true_s), of.precision = share(right_s, of.found_s);
  }
  return scores;
}

}  // namespace voxshard
