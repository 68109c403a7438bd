#include "pipelines/engine/flow/read_ahead.h"

#include <utility>

#include "io/files/now_reading.h"

namespace voxshard {

void ReadAhead::start(InputAhead input, const ProcessPlan& beside) {
  drop();
  if (!on_) return;
  input_ = std::move(input);
  {
    const std::lock_guard lock(mutex_);
    state_ = State::kPlanning, beside_ = beside;
  }
  if (!thread_.start([this] { work(); })) forget();  // no thread: it is read in its own turn
}

void ReadAhead::work() {
  State end = State::kFailed;
  try {
    std::optional<ReadingAs> name;
    if (!input_->shown_as.empty()) name.emplace(input_->shown_as);
    end = admit(input_->plan()) ? State::kReading : State::kOver;
    if (end == State::kReading) {
      input_->read([this] { return dropped_.load(); });
      end = State::kRead;
    }
  } catch (...) {  // its own turn meets the same error, and reports it
    end = State::kFailed;
  }
  if (end != State::kRead) input_->release();
  const std::lock_guard lock(mutex_);
  state_ = end;
  if (end != State::kRead) need_ = {};
}

bool ReadAhead::fit(const ProcessPlan& plan, const ProcessPlan& need) const {
  return most_bytes_ <= 0 || need.total() <= most_bytes_ - plan.total();
}

bool ReadAhead::admit(const ProcessPlan& need) {
  const std::lock_guard lock(mutex_);
  if (!fit(beside_, need)) return false;
  state_ = State::kReading, need_ = need;
  widest_ = voxshard::widest(widest_, beside_ + need);
  return true;
}

void ReadAhead::forget() {
  input_.reset();
  const std::lock_guard lock(mutex_);
  need_ = {}, beside_ = {};
}

bool ReadAhead::take(std::size_t number) {
  if (!input_ || input_->number != number) return false;
  thread_.wait();
  const State end = [&] {
    const std::lock_guard lock(mutex_);
    return state_;
  }();
  inputs_ += end == State::kRead, over_ += end == State::kOver;
  forget();
  return end == State::kRead;
}

void ReadAhead::drop() {
  if (!input_) return;
  dropped_ = true;
  thread_.wait();
  dropped_ = false;
  input_->release();
  forget();
}

void ReadAhead::leave_room(const ProcessPlan& most, std::size_t now) {
  if (!input_ || input_->number == now) return;  // its own plan counts what is read of it
  {
    const std::lock_guard lock(mutex_);
    beside_ = voxshard::widest(beside_, most);  // until it is admitted, it is held against that
    if (fit(most, need_)) return;
    over_ += need_.total() > 0 || state_ == State::kOver;
  }
  drop();
}

void ReadAhead::give_way(const ProcessPlan& plan, std::size_t now) {
  leave_room(plan, now);
  if (!input_ || input_->number == now) return;
  const std::lock_guard lock(mutex_);
  if (need_.total() > 0) widest_ = voxshard::widest(widest_, plan + need_);
}

ProcessPlan ReadAhead::held() const {
  const std::lock_guard lock(mutex_);
  return need_;
}

ProcessPlan ReadAhead::widest() const {
  const std::lock_guard lock(mutex_);
  return widest_;
}

}  // namespace voxshard
