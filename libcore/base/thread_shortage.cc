#include "libcore/base/thread_shortage.h"

#include <mutex>
#include <set>
#include <utility>

#include "libcore/base/error.h"

namespace voxshard {
namespace {

/// The settings of the current ThreadShortage.
struct Policy {
  std::mutex mutex;
  bool goes_on = false;
  std::function<void(const std::string&)> say;
  std::set<std::string> said;
};

Policy& policy() {
  static Policy one;
  return one;
}

void warn(const std::string& text) {
  Policy& p = policy();
  const std::lock_guard lock(p.mutex);
  if (p.say && p.said.insert(text).second) p.say("W_THREADS " + text);
}

constexpr const char* kLimits = "ulimit -u and -v, the cgroup's pids.max";

}  // namespace

ThreadShortage::ThreadShortage(bool goes_on, std::function<void(const std::string&)> say) {
  const std::lock_guard lock(policy().mutex);
  policy().goes_on = goes_on, policy().say = std::move(say), policy().said.clear();
}

ThreadShortage::~ThreadShortage() {
  const std::lock_guard lock(policy().mutex);
  policy().goes_on = false, policy().say = nullptr;
}

void went_short_of_threads(int made, int wanted) {
  const std::string of = std::to_string(made) + " of " + std::to_string(wanted) + " threads";
  const bool goes_on = [] {
    const std::lock_guard lock(policy().mutex);
    return policy().goes_on;
  }();
  if (!goes_on)
    throw Error(ErrorKind::kBudget, "E_THREADS",
                "[threads] the system let this process have " + of + "; give {threads} " + std::to_string(made) +
                    " or less, or raise its limits (" + kLimits + ")");
  warn("the system let this process have " + of + " (" + kLimits +
       "): it goes on with those, and the results are the same");
}

void say_single_thread(const std::string& whose, int wanted) {
  warn("the system refused " + whose + " its " + std::to_string(wanted) + " threads (" + kLimits +
       "): it works with one");
}

}  // namespace voxshard
