#include "libcore/base/background_thread.h"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "libcore/base/error.h"

namespace voxshard {

struct BackgroundThread::Impl {
  std::mutex mutex;
  std::condition_variable wake, done;
  std::function<void()> work;  // empty: there is none
  std::exception_ptr failure;
  bool stopping = false;
  std::thread thread;

  void loop() {
    std::unique_lock lock(mutex);
    while (true) {
      wake.wait(lock, [&] { return stopping || work; });
      if (!work) return;
      lock.unlock();
      std::exception_ptr thrown;
      try {
        work();
      } catch (...) {
        thrown = std::current_exception();
      }
      lock.lock();
      work = nullptr, failure = std::move(thrown);
      done.notify_all();
    }
  }
};

BackgroundThread::BackgroundThread() : impl_(std::make_unique<Impl>()) {}

BackgroundThread::~BackgroundThread() {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->stopping = true;
  }
  impl_->wake.notify_all();
  if (impl_->thread.joinable()) impl_->thread.join();
}

bool BackgroundThread::start(std::function<void()> work) {
  Impl& i = *impl_;
  if (!i.thread.joinable()) {
    try {
      i.thread = std::thread([impl = impl_.get()] { impl->loop(); });
    } catch (const std::exception&) {  // no thread, or no memory for it or its stack
      return false;
    }
  }
  {
    const std::lock_guard lock(i.mutex);
    ensure(!i.work && !i.failure, "a background thread runs one piece of work at a time");
    i.work = std::move(work);
  }
  i.wake.notify_all();
  return true;
}

void BackgroundThread::wait() {
  std::unique_lock lock(impl_->mutex);
  impl_->done.wait(lock, [&] { return !impl_->work; });
  if (impl_->failure) std::rethrow_exception(std::exchange(impl_->failure, nullptr));
}

}  // namespace voxshard
