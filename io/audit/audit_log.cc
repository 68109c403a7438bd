#include "io/audit/audit_log.h"

#include <pwd.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>

#include "io/audit/sha256.h"
#include "io/files/file_error.h"
#include "io/files/private_folder.h"

namespace voxshard {
namespace {

/// The bytes at the end of a file in which the last whole line is looked for: a few lines torn one after another.
constexpr std::int64_t kEndWindowBytes = 4 * static_cast<std::int64_t>(kMostAuditLineBytes);

std::string time_of_system() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  std::array<char, 32> text{};
  ::gmtime_r(&now, &parts);
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

std::string name_of(uid_t uid) {
  std::array<char, 4096> buffer{};
  passwd entry{};
  passwd* found = nullptr;
  return ::getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr ? found->pw_name : "";
}

void to_system_log(const std::string& text) {
  ::openlog("voxshard", LOG_PID, LOG_USER);
  ::syslog(LOG_INFO, "%s", text.c_str());
}

/// The lock of the file, for one look at its end and one line.
class HeldLock {
 public:
  explicit HeldLock(int file) : file_(file) {
    while (::flock(file_, LOCK_EX) != 0)
      if (errno != EINTR) {
        reason_ = errno;
        return;
      }
  }
  ~HeldLock() { ::flock(file_, LOCK_UN); }
  HeldLock(const HeldLock&) = delete;
  HeldLock& operator=(const HeldLock&) = delete;
  int reason() const { return reason_; }  // 0: it is held

 private:
  int file_, reason_ = 0;
};

}  // namespace

AuditSurroundings system_surroundings() {
  const uid_t uid = ::getuid();
  return {.utc_time = time_of_system, .uid = uid, .user = name_of(uid), .system_log = to_system_log};
}

AuditLog::AuditLog(std::filesystem::path path, AuditSurroundings surroundings)
    : path_(std::filesystem::absolute(path)), around_(std::move(surroundings)), file_(open_private_to_append(path_)) {
  struct stat about_file {};
  if (file_.number() < 0 || ::fstat(file_.number(), &about_file) != 0)
    throw output_error(path_, errno == ELOOP ? "it is a link" : std::strerror(errno),
                       "name a file in a folder that exists and may be written");
  if (about_file.st_nlink > 1)
    throw output_error(path_, "the file has several names (hard links)", "name a file that has one");
  number_ = find_end().last.number;
}

std::string AuditLog::about(const std::string& what) const {
  return "[audit] " + path_.string() + ": " + what + "; check {audit} says what is wrong; name another file";
}

AuditLog::End AuditLog::find_end() const {
  struct stat about_file {};
  if (::fstat(file_.number(), &about_file) != 0) throw output_error(path_, std::strerror(errno), "check the disk");
  const std::int64_t begin = std::max<std::int64_t>(0, about_file.st_size - kEndWindowBytes);
  std::string bytes(static_cast<std::size_t>(about_file.st_size - begin), '\0');
  for (std::size_t got = 0; got < bytes.size();) {
    const ssize_t more = ::pread(file_.number(), bytes.data() + got, bytes.size() - got,
                                 static_cast<off_t>(begin + static_cast<std::int64_t>(got)));
    if (more < 0 && errno == EINTR) continue;
    if (more <= 0) throw output_error(path_, more < 0 ? std::strerror(errno) : "it became shorter", "check the disk");
    got += static_cast<std::size_t>(more);
  }
  if (begin == 0 && !begins_like_audit(bytes)) throw Error(ErrorKind::kOutput, about("is no audit file of voxshard"));
  const bool ends = bytes.empty() || bytes.back() == '\n';
  if (!ends) bytes += '\n';
  for (std::size_t end = bytes.size(); end > 0;) {  // line after line, from the last one
    const std::size_t before = end < 2 ? std::string::npos : bytes.rfind('\n', end - 2);
    const std::size_t first = before == std::string::npos ? 0 : before + 1;
    const std::string_view line = std::string_view(bytes).substr(first, end - 1 - first);
    if (auto link = audit_link(line))  // that of the last line may lack its line end
      return {.last = std::move(*link), .torn = bytes.substr(end), .torn_ends = ends};
    if (has_audit_end(line)) throw Error(ErrorKind::kOutput, about("its last line was changed"));
    if (before == std::string::npos && begin > 0) break;
    end = first;
  }
  if (begin > 0) throw Error(ErrorKind::kOutput, about("no whole line is at its end"));
  return {.last = {}, .torn = std::move(bytes), .torn_ends = ends};
}

void AuditLog::append(const AuditCase& said) {
  constexpr const char* kAction = "check that the disk has space and the file's permissions";
  std::string hash;
  {
    const HeldLock lock(file_.number());
    if (lock.reason() != 0) throw output_error(path_, std::strerror(lock.reason()), "choose a disk with locks");
    const End end = find_end();
    AuditPlace place{
        .number = end.last.number + 1, .time = around_.utc_time(), .uid = around_.uid, .user = around_.user};
    if (end.last.number > 0) place.previous = end.last.hash;
    if (!end.torn.empty())
      place.after_torn = TornLine{.bytes = static_cast<std::int64_t>(end.torn.size()), .hash = sha256(end.torn)};
    const std::string line = audit_line(said, place);
    const auto link = audit_link(line);
    if (!link) throw Error(ErrorKind::kOutput, about("no number may follow that of its last line"));
    const std::string text = (end.torn_ends ? "" : "\n") + line + "\n";
    const off_t size = ::lseek(file_.number(), 0, SEEK_END);
    errno = ENOSPC;  // a short write sets none
    if (::write(file_.number(), text.data(), text.size()) != static_cast<ssize_t>(text.size()) ||
        ::fdatasync(file_.number()) != 0) {
      const int reason = errno;
      if (size >= 0 && ::ftruncate(file_.number(), size) != 0) {
        // A torn line stays, as after a crash: the next line says so.
      }
      throw output_error(path_, std::strerror(reason), kAction);
    }
    number_ = place.number, torn_bytes_ += static_cast<std::int64_t>(end.torn.size());
    hash = link->hash;
  }
  around_.system_log("audit " + path_.string() + ": " + std::to_string(number_) + " lines, last " + hash);
}

}  // namespace voxshard
