// Runs of voxels of one class along a row are the elements of a union-find forest for each class: a run joins the
// touching runs of its class in the four rows before it that it can touch.
#include "io/volume/largest_component.h"

#include <algorithm>

#include "libcore/base/error.h"
#include "libcore/base/text.h"

namespace voxshard {
namespace {

/// Calls `f(begin, end, label)` for each run of a class in `of_class` along a row.
template <class F>
void for_each_run(const std::int32_t* row, std::int64_t width, const std::vector<char>& of_class, const F& f) {
  for (std::int64_t x = 0; x < width;) {
    const std::int32_t label = row[x];
    std::int64_t end = x + 1;
    while (end < width && row[end] == label) ++end;
    const auto at = static_cast<std::size_t>(label);
    if (label > 0 && at < of_class.size() && of_class[at]) f(x, end, at);
    x = end;
  }
}

/// Calls `f(row, y)` with the first voxel of each row of the planes, in the order of memory.
template <class F>
void for_each_row(const TensorView& planes, const F& f) {
  ensure(planes.dtype == DType::kI32 && planes.axes() == 3, "labels are i32 volumes");
  for (std::int64_t z = 0; z < planes.extent()[0]; ++z)
    for (std::int64_t y = 0; y < planes.extent()[1]; ++y)
      f(planes.as<std::int32_t>() + z * planes.strides[0] + y * planes.strides[1], static_cast<std::size_t>(y));
}

}  // namespace

std::uint32_t LargestComponents::Forest::root(std::uint32_t run) {
  while (parent[run] != run) run = parent[run] = parent[parent[run]];
  return run;
}

void LargestComponents::Forest::join(std::uint32_t a, std::uint32_t b) {
  a = root(a), b = root(b);
  parent[std::max(a, b)] = std::min(a, b);
}

LargestComponents::LargestComponents(std::vector<char> of_class, std::int64_t most_bytes, double kept_above)
    : of_class_(std::move(of_class)),
      most_bytes_(most_bytes),
      kept_above_(kept_above),
      forests_(of_class_.size()),
      largest_(of_class_.size(), UINT32_MAX),
      next_(of_class_.size(), 0),
      removed_(of_class_.size(), 0) {}

LargestComponents::Run LargestComponents::new_run(std::int64_t begin, std::int64_t end, std::size_t label) {
  constexpr std::int64_t kRunBytes = sizeof(std::uint32_t) + sizeof(std::int64_t);
  if ((most_bytes_ > 0 && ++runs_ * kRunBytes > most_bytes_) || forests_[label].parent.size() >= UINT32_MAX - 1)
    throw Error(ErrorKind::kInput, "E_BUDGET",
                "[largest] the classes lie in so many parts that joining them takes more than the " +
                    bytes_text(most_bytes_) + " that are left; choose {largest} none, or raise {host-memory}");
  Forest& forest = forests_[label];
  const auto id = static_cast<std::uint32_t>(forest.parent.size());
  forest.parent.push_back(id), forest.voxels.push_back(end - begin);
  return {begin, end, label, id};
}

/// Joins the runs of two rows that touch, by an edge or a corner too.
void LargestComponents::join_rows(const std::vector<Run>& row, const std::vector<Run>& before) {
  std::size_t first = 0;
  for (const Run& run : row) {
    while (first < before.size() && before[first].end < run.begin) ++first;
    for (std::size_t k = first; k < before.size() && before[k].begin <= run.end; ++k)
      if (before[k].label == run.label) forests_[run.label].join(run.id, before[k].id);
  }
}

void LargestComponents::see(const TensorView& planes) {
  const auto rows = static_cast<std::size_t>(planes.extent()[1]);
  plane_.resize(rows), before_.resize(rows);
  for_each_row(planes, [&](const std::int32_t* voxels, std::size_t y) {
    if (y == 0) std::swap(plane_, before_);
    plane_[y].clear();
    for_each_run(voxels, planes.extent()[2], of_class_, [&](std::int64_t begin, std::int64_t end, std::size_t label) {
      plane_[y].push_back(new_run(begin, end, label));
    });
    if (y > 0) join_rows(plane_[y], plane_[y - 1]), join_rows(plane_[y], before_[y - 1]);
    join_rows(plane_[y], before_[y]);
    if (y + 1 < rows) join_rows(plane_[y], before_[y + 1]);
  });
}

void LargestComponents::seen() {
  plane_.clear(), before_.clear();
  for (std::size_t label = 0; label < forests_.size(); ++label) {
    Forest& forest = forests_[label];
    const auto runs = static_cast<std::uint32_t>(forest.parent.size());
    for (std::uint32_t run = 0; run < runs; ++run)
      if (const std::uint32_t root = forest.root(run); root != run) forest.voxels[root] += forest.voxels[run];
    for (std::uint32_t run = 0; run < runs; ++run)
      if (forest.root(run) == run &&
          (largest_[label] == UINT32_MAX || forest.voxels[run] > forest.voxels[largest_[label]]))
        largest_[label] = run;
  }
}

std::int64_t LargestComponents::parts(std::size_t label, std::int64_t least_voxels) {
  Forest& forest = forests_.at(label);
  std::int64_t parts = 0;
  for (std::uint32_t run = 0; run < forest.parent.size(); ++run)
    parts += forest.root(run) == run && forest.voxels[run] >= least_voxels;
  return parts;
}

bool LargestComponents::is_kept(std::size_t label, std::uint32_t root) const {
  const std::deque<std::int64_t>& voxels = forests_[label].voxels;
  return root == largest_[label] ||
         static_cast<double>(voxels[root]) > kept_above_ * static_cast<double>(voxels[largest_[label]]);
}

void LargestComponents::rewrite(const TensorView& planes) {
  // A run that is removed changes no later run: background belongs to no class.
  for_each_row(planes, [&](std::int32_t* row, std::size_t) {
    for_each_run(row, planes.extent()[2], of_class_, [&](std::int64_t begin, std::int64_t end, std::size_t label) {
      if (is_kept(label, forests_[label].root(next_[label]++))) return;
      std::fill(row + begin, row + end, 0);
      removed_[label] += end - begin;
    });
  });
}

}  // namespace voxshard
