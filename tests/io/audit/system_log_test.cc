// The audit's line in the system's log, by the C library's own syslog(): a child process whose root is a folder of the
// test finds the socket of the test at /dev/log. No daemon is needed, and that of the machine gets nothing.
#include <sched.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <syslog.h>
#include <unistd.h>

#include <array>
#include <filesystem>

#include "io/files/open_file.h"
#include "tests/io/audit/audit_scene.h"

namespace voxshard {
namespace {

using AuditSystemLog = test::AuditScene;
using testing::HasSubstr;
using testing::StartsWith;

constexpr int kMayNot = 77;  // exit code of a child that may not change its root

/// Makes a socket of datagrams with a name; empty when that fails.
Descriptor bound_socket(const std::string& path) {
  Descriptor made(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (made.number() < 0 || path.size() >= sizeof address.sun_path) return Descriptor(-1);
  path.copy(address.sun_path, path.size());
  if (::bind(made.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return Descriptor(-1);
  return made;
}

/// Makes a folder the root of this process, which may take a user namespace.
bool enter(const std::string& root) {
  if (::chroot(root.c_str()) != 0 && (::unshare(CLONE_NEWUSER) != 0 || ::chroot(root.c_str()) != 0)) return false;
  return ::chdir("/") == 0;
}

TEST_F(AuditSystemLog, GetsTheCountAndTheHashOfEachLineAtTheSocketOfTheSystem) {
  std::filesystem::create_directories(folder_ / "root/dev");
  const Descriptor socket = bound_socket(folder_ / "root/dev/log");
  ASSERT_GE(socket.number(), 0) << "the name of the folder is too long for a socket";
  AuditLog log(path(), system_surroundings());
  const pid_t child = ::fork();
  if (child == 0) {
    ::closelog();
    if (!enter(folder_ / "root")) ::_exit(kMayNot);
    log.append(one("case_0001"));
    log.append(one("case_0002"));
    ::_exit(0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == kMayNot) GTEST_SKIP() << "this user may not change the root of a process";
  ASSERT_EQ(WEXITSTATUS(status), 0);
  std::vector<std::string> texts;
  std::array<char, 4096> text{};
  for (ssize_t bytes = 0; (bytes = ::recv(socket.number(), text.data(), text.size(), MSG_DONTWAIT)) > 0;)
    texts.emplace_back(text.data(), static_cast<std::size_t>(bytes));
  ASSERT_EQ(texts.size(), 2u);
  EXPECT_THAT(texts[1], StartsWith("<" + std::to_string(LOG_USER | LOG_INFO) + ">"));
  EXPECT_THAT(texts[1], HasSubstr("voxshard[" + std::to_string(child) + "]: audit " + path() + ": 2 lines, last " +
                                  chain().last_hash));
  EXPECT_THAT(texts[0], HasSubstr(": 1 lines, last " + lines().at(0).substr(lines().at(0).size() - 67, 64)));
  expect_whole(2);
}

}  // namespace
}  // namespace voxshard
