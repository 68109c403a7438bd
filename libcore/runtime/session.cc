#include "libcore/runtime/session.h"

namespace voxshard {

const Executable& Session::plan(const Shape& extents, Phase phase) {
  auto& slot = executables_[{phase, extents}];
  if (slot == nullptr) slot = std::make_unique<Executable>(lower_(extents, phase));
  return *slot;
}

CoreSet& Session::cores(const Shape& extents, Phase phase) {
  if (cores_ == nullptr || live_ != Key{phase, extents}) {
    const Executable& executable = plan(extents, phase);
    release();
    cores_ = std::make_unique<CoreSet>(executable, ops_, parameters_, pool_, transport_, arenas_);
    cores_->set_stop(stop_);
    live_ = {phase, extents};
  }
  return *cores_;
}

}  // namespace voxshard
