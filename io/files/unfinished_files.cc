#include "io/files/unfinished_files.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <mutex>
#include <string>

#include "io/files/private_folder.h"

namespace voxshard {
namespace {

/// A name in memory that is never freed: the handler may read it at any time. A name that is overwritten while the
/// handler reads it is that of no file, or of another unfinished one.
struct UnfinishedSlot {
  std::atomic<bool> used{false};
  std::array<char, 4096> name{};
};

std::array<UnfinishedSlot, 64> unfinished_slots;
std::mutex mutex;  // taken by note_unfinished() and forget_unfinished(); not by the handler

}  // namespace

void note_unfinished(const std::filesystem::path& file) {
  const std::string name = std::filesystem::absolute(file).string();
  if (name.size() >= unfinished_slots[0].name.size()) return;
  const std::lock_guard lock(mutex);
  for (UnfinishedSlot& slot : unfinished_slots) {
    if (slot.used) continue;
    name.copy(slot.name.data(), name.size());
    slot.name[name.size()] = '\0';
    slot.used = true;
    return;
  }
}

void forget_unfinished(const std::filesystem::path& file) {
  const std::string name = std::filesystem::absolute(file).string();
  const std::lock_guard lock(mutex);
  for (UnfinishedSlot& slot : unfinished_slots)
    if (slot.used && name == slot.name.data()) slot.used = false;
}

void remove_unfinished_files() noexcept {
  for (UnfinishedSlot& slot : unfinished_slots)
    if (slot.used) ::unlink(slot.name.data());
  remove_private_folders();
}

}  // namespace voxshard
