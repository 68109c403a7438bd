#include "pipelines/engine/flow/write_behind.h"

#include <utility>

#include "io/files/now_reading.h"
#include "libcore/base/stopwatch.h"

namespace voxshard {

std::exception_ptr thrown_by(const std::function<void()>& body) {
  try {
    body();
    return nullptr;
  } catch (...) {
    return std::current_exception();
  }
}

std::string error_text(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "an error without a text";
  }
}

bool WriteBehind::fits(const OutputBehind& output) const {
  const std::int64_t next = output.next().total();
  return most_bytes_ <= 0 || output.need.total() <= most_bytes_ - next;
}

bool WriteBehind::start(const OutputBehind& output) {
  ensure(!output_, "the outputs of one input at a time are written behind");
  if (!on_ || !output.next) return false;
  try {
    if (!fits(output)) return ++over_, false;
  } catch (...) {  // the next turn meets the same error, and reports it
    return false;
  }
  output_ = output;
  const bool started = thread_.start([this] {
    const Stopwatch watch;
    std::optional<ReadingAs> name;
    if (!output_->shown_as.empty()) name.emplace(output_->shown_as);
    const std::exception_ptr failure = thrown_by(output_->write);
    seconds_ += watch.seconds();
    if (failure) std::rethrow_exception(failure);
  });
  if (!started) output_.reset();
  return started;
}

std::optional<WriteBehind::Written> WriteBehind::take() {
  if (!output_) return std::nullopt;
  const Stopwatch watch;
  const std::exception_ptr failure = thrown_by([&] { thread_.wait(); });
  waited_s_ += watch.seconds(), ++inputs_;
  Written written{std::move(*output_), failure};
  output_.reset();
  return written;
}

}  // namespace voxshard
