// The handler runs in a broken process: it may only read existing memory and call write(), so the names are kept in
// memory that is never freed. The handlers of a sanitizer report more and are not replaced.
#include "io/files/now_reading.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

#include "libcore/base/plain_text.h"

namespace voxshard {
namespace {

enum ReadingState : int { kFree, kFilling, kShown };

struct ReadingSlot {
  std::atomic<int> state{kFree};
  pthread_t thread{};
  std::array<char, 256> name{};  // ends with 0
};
std::array<ReadingSlot, 64> reading_slots;
static_assert(std::atomic<int>::is_always_lock_free);

thread_local const std::string* reading_as = nullptr;  // see ReadingAs

int crash_output = -1;

void say(const char* text) {
  for (std::size_t left = std::strlen(text); left > 0;) {
    const ssize_t done = ::write(crash_output, text, left);
    if (done <= 0) return;
    text += done, left -= static_cast<std::size_t>(done);
  }
}

/// Writes the names of the files that are being read, by this thread or by all; returns false when there are none.
bool say_files(bool of_this_thread) {
  bool said = false;
  for (const ReadingSlot& slot : reading_slots) {
    if (slot.state != kShown || (of_this_thread && pthread_equal(slot.thread, pthread_self()) == 0)) continue;
    say(said ? ", " : "\nvoxshard: [crash] while reading ");
    say(slot.name.data());
    said = true;
  }
  return said;
}

const char* meaning(int signal) {
  switch (signal) {
    case SIGFPE:
      return "an impossible division (SIGFPE)";
    case SIGILL:
      return "an instruction that this processor lacks (SIGILL)";
    case SIGABRT:
      return "an abort (SIGABRT)";
    case SIGBUS:
      return "an address without memory (SIGBUS)";
    default:
      return "a wrong address (SIGSEGV)";
  }
}

extern "C" void on_crash(int signal) {
  if (say_files(true) || say_files(false))
    say("; files are decoded in this process: leave this one out and run again\n");
  else {
    say("\nvoxshard: [crash] ");
    say(meaning(signal));
    say(", while no file was read: a defect of voxshard or of a library; what was written whole stays whole\n");
  }
  ::raise(signal);  // the default handler is set again: ends the process
}

}  // namespace

NowReading::NowReading(const std::filesystem::path& path) {
  for (std::size_t i = 0; i < reading_slots.size() && slot_ < 0; ++i) {
    int expected = kFree;
    if (reading_slots[i].state.compare_exchange_strong(expected, kFilling)) slot_ = static_cast<int>(i);
  }
  if (slot_ < 0) return;
  ReadingSlot& slot = reading_slots[slot_];
  slot.thread = pthread_self();
  slot.name[plain_text(reading_as != nullptr ? *reading_as : path.native())
                .copy(slot.name.data(), slot.name.size() - 1)] = '\0';  // no control characters
  slot.state = kShown;
}

NowReading::~NowReading() {
  if (slot_ >= 0) reading_slots[slot_].state = kFree;
}

ReadingAs::ReadingAs(std::string name) : name_(std::move(name)), before_(reading_as) { reading_as = &name_; }
ReadingAs::~ReadingAs() { reading_as = before_; }

void note_crashes(int file_descriptor) {
  crash_output = file_descriptor;
#ifndef __SANITIZE_ADDRESS__
  struct sigaction action {};
  action.sa_handler = on_crash;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER);
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) ::sigaction(signal, &action, nullptr);
#endif
}

}  // namespace voxshard
