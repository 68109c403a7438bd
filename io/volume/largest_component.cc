// Runs of voxels of one class along a row are the elements of a union-find forest: a run joins the touching runs of its
// class in the four rows before it that it can touch. Labels are walked slice by slice, three times.
#include "io/volume/largest_component.h"

#include <algorithm>
#include <cstdint>

#include "libcore/base/error.h"
#include "libcore/base/text.h"

namespace voxshard {
namespace {

struct Run {
  std::int64_t begin = 0, end = 0;  // along the row
  std::int32_t label = 0;
  std::uint32_t id = 0;  // in the order of memory
};

/// Calls `f(begin, end, label)` for each run of a class in `of_class` along a row.
template <class F>
void for_each_run(const std::int32_t* row, std::int64_t width, const std::vector<char>& of_class, const F& f) {
  for (std::int64_t x = 0; x < width;) {
    const std::int32_t label = row[x];
    std::int64_t end = x + 1;
    while (end < width && row[end] == label) ++end;
    if (label > 0 && label < std::ssize(of_class) && of_class[static_cast<std::size_t>(label)]) f(x, end, label);
    x = end;
  }
}

/// Sets of runs; the root of a set is its first run.
class Forest {
 public:
  explicit Forest(std::size_t runs) : parent_(runs) {
    for (std::size_t i = 0; i < runs; ++i) parent_[i] = static_cast<std::uint32_t>(i);
  }
  std::uint32_t root(std::uint32_t run) {
    while (parent_[run] != run) run = parent_[run] = parent_[parent_[run]];
    return run;
  }
  void join(std::uint32_t a, std::uint32_t b) {
    a = root(a), b = root(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<std::uint32_t> parent_;
};

/// Joins the runs of two rows that touch, by an edge or a corner too.
void join_rows(const std::vector<Run>& row, const std::vector<Run>& before, Forest& forest) {
  std::size_t first = 0;
  for (const Run& run : row) {
    while (first < before.size() && before[first].end < run.begin) ++first;
    for (std::size_t k = first; k < before.size() && before[k].begin <= run.end; ++k)
      if (before[k].label == run.label) forest.join(run.id, before[k].id);
  }
}

/// Calls `f(row, z, y)` with the first voxel of each row of (D, H, W) labels, in the order of memory.
template <class F>
void for_each_row(const Tensor& labels, const F& f) {
  const Shape& shape = labels.shape();
  for (std::int64_t z = 0; z < shape[0]; ++z)
    for (std::int64_t y = 0; y < shape[1]; ++y) f(labels.as<std::int32_t>() + (z * shape[1] + y) * shape[2], z, y);
}

Forest connected(const Tensor& labels, const std::vector<char>& of_class, std::size_t runs) {
  Forest forest(runs);
  const auto rows = static_cast<std::size_t>(labels.shape()[1]);
  std::vector<std::vector<Run>> slice(rows), before(rows);
  std::uint32_t next = 0;
  for_each_row(labels, [&](const std::int32_t* voxels, std::int64_t, std::int64_t row) {
    const auto y = static_cast<std::size_t>(row);
    if (y == 0) std::swap(slice, before);
    slice[y].clear();
    for_each_run(voxels, labels.shape()[2], of_class, [&](std::int64_t begin, std::int64_t end, std::int32_t label) {
      slice[y].push_back({begin, end, label, next++});
    });
    if (y > 0) join_rows(slice[y], slice[y - 1], forest), join_rows(slice[y], before[y - 1], forest);
    join_rows(slice[y], before[y], forest);
    if (y + 1 < rows) join_rows(slice[y], before[y + 1], forest);
  });
  return forest;
}

}  // namespace

std::vector<std::int64_t> keep_largest_components(Tensor& labels, const std::vector<char>& of_class,
                                                  std::int64_t most_bytes) {
  ensure(labels.dtype() == DType::kI32 && labels.shape().axes() == 3, "labels are i32 volumes");
  std::size_t runs = 0;
  const auto each = [&](const auto& f) {
    for_each_row(labels, [&](std::int32_t* row, std::int64_t, std::int64_t) {
      for_each_run(row, labels.shape()[2], of_class, [&](std::int64_t begin, std::int64_t end, std::int32_t label) {
        f(row, begin, end, static_cast<std::size_t>(label));
      });
    });
  };
  each([&](std::int32_t*, std::int64_t, std::int64_t, std::size_t) { ++runs; });
  const auto bytes = static_cast<std::int64_t>(runs * (sizeof(std::uint32_t) + sizeof(std::int64_t)));
  if ((most_bytes > 0 && bytes > most_bytes) || runs >= UINT32_MAX)
    throw Error(ErrorKind::kInput, "E_BUDGET",
                "[largest] the classes lie in so many parts that joining them takes " + bytes_text(bytes) + ", of " +
                    bytes_text(most_bytes) + " that are left; leave {largest} out, or raise host-memory");

  Forest forest = connected(labels, of_class, runs);
  std::vector<std::int64_t> size(runs, 0);  // of a set, at its root
  std::vector<std::uint32_t> largest(of_class.size(), UINT32_MAX);
  std::vector<std::int64_t> removed(of_class.size(), 0);
  std::uint32_t id = 0;
  each([&](std::int32_t*, std::int64_t begin, std::int64_t end, std::size_t) {
    size[forest.root(id++)] += end - begin;
  });
  id = 0;
  each([&](std::int32_t*, std::int64_t, std::int64_t, std::size_t label) {
    const std::uint32_t run = id++;
    if (forest.root(run) != run) return;
    if (largest[label] == UINT32_MAX || size[run] > size[largest[label]]) largest[label] = run;
  });
  // A run that is removed changes no later run: background belongs to no class.
  id = 0;
  each([&](std::int32_t* row, std::int64_t begin, std::int64_t end, std::size_t label) {
    if (forest.root(id++) == largest[label]) return;
    std::fill(row + begin, row + end, 0);
    removed[label] += end - begin;
  });
  return removed;
}

}  // namespace voxshard
