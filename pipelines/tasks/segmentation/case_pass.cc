#include "pipelines/tasks/segmentation/case_pass.h"

#include <atomic>

#include "libcore/base/parallel.h"

namespace voxshard {

std::vector<char> CasePass::run(const std::function<ProcessPlan(std::int64_t)>& need,
                                const std::function<void(std::int64_t)>& body) {
  std::vector<char> good(cases_.size(), 0);
  std::vector<std::vector<CaseFailure>> failures(cases_.size());
  std::atomic<std::int64_t> done{0};
  const auto total = static_cast<std::int64_t>(cases_.size());
  WorkerPool pool(threads_);
  progress_.update(stage_, 0, total, "");
  pool.run(total, [&](std::int64_t i, int) {
    try {
      throw_if_stopped(progress_);
      good[i] = in_case_boundary(cases_[i].id, failures[i], [&] {
        const auto hold = gate_.enter(need(i));
        throw_if_stopped(progress_);
        body(i);
      });
    } catch (const Stopped&) {  // the case is left to the next run
      return;
    }
    progress_.update(stage_, ++done, total, cases_[i].id);
  });
  for (auto& list : failures)
    for (auto& f : list) {
      progress_.log("case " + f.id + ": " + f.code + " " + f.message + " [quarantined]");
      failures_.push_back(std::move(f));
    }
  return good;
}

}  // namespace voxshard
