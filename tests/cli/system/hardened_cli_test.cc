// The units of data/examples leave a service little: systemd's own judgement of them, and a prediction with an
// audit by a user without rights, on a read-only file system but for its folders, without a network.
#include <sys/stat.h>
#include <unistd.h>

#include "tests/cli/trained_cli.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

class HardenedCli : public TrainedCli {};

TEST_F(HardenedCli, SystemdCallsTheUnitsSafe) {
  if (std::system("systemd-analyze security --help >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "no systemd-analyze (Debian: systemd)";
  const Folder folder("units");
  const auto judged = [&](const std::string& unit, int tenths = 10) {
    return std::system(("systemd-analyze security --no-pager --offline=true --threshold=" + std::to_string(tenths) +
                        " " + unit + " >" + (folder / "judgement") + " 2>&1")
                           .c_str());
  };
  const std::string examples = std::string(VOXSHARD_SOURCE_DIR) + "/data/examples/";
  for (const char* name : {"voxshard-receive.service", "voxshard-send.service"})  // they need the network
    EXPECT_EQ(judged(examples + "pacs/" + name, 15), 0) << file_text(folder / "judgement");
  for (const char* place :
       {"nightly/voxshard-predict.service", "nightly/voxshard-watch.service", "pacs/voxshard-predict-pacs.service"}) {
    const std::string unit = examples + place, name = fs::path(place).filename();
    EXPECT_EQ(judged(unit), 0) << file_text(folder / "judgement");
    std::string weaker = file_text(unit);
    for (const char* line : {"PrivateNetwork=yes\n", "NoNewPrivileges=yes\n", "ProtectSystem=strict\n",
                             "User=voxshard\n", "CapabilityBoundingSet=\n"}) {
      const std::size_t at = weaker.find(line);
      ASSERT_NE(at, std::string::npos) << name << " lacks " << line;
      weaker.erase(at, std::string(line).size());
    }
    folder.write(name, weaker);
    EXPECT_NE(judged(folder / name), 0) << file_text(folder / "judgement");
  }
}

TEST_F(HardenedCli, AUserWithoutRightsPredictsOnAReadOnlySystemWithoutANetwork) {
  // What the script below does, tried on the program's own --version.
  const std::string tried =
      "unshare -n -m sh -c 'mount --make-rprivate / && mount -o remount,bind,ro / && exec setpriv --reuid=65534 "
      "--regid=65534 --clear-groups --no-new-privs --bounding-set=-all " VOXSHARD_BINARY " --version' >/dev/null 2>&1";
  if (::geteuid() != 0 || std::system(tried.c_str()) != 0)
    GTEST_SKIP() << "no namespace of its own for a user without rights, or none that may run the program (Debian: "
                    "util-linux)";
  const Folder folder("hardened");
  for (const char* name : {"out", "tmp"}) {
    fs::create_directory(folder / name);
    ASSERT_EQ(::chown((folder / name).c_str(), 65534, 65534), 0);
  }
  folder.write(
      "confined.sh",
      "mount --make-rprivate / && mount --bind " + (folder / "") + " " + (folder / "") +
          " && mount -o remount,bind,ro / || exit 99\n"
          "export TMPDIR=" +
          (folder / "tmp") +
          "\n"
          "exec setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs --bounding-set=-all \"$@\"\n");
  const std::string confined = "unshare -n -m sh " + (folder / "confined.sh");
  ASSERT_EQ(std::system((confined + " sh -c 'touch " + (folder / "out/a") + "'").c_str()), 0);
  ASSERT_NE(std::system((confined + " sh -c 'touch " + work() + "/a 2>/dev/null'").c_str()), 0) << "it is read-only";
  const CommandResult r = run_voxshard("predict " + run() + " " + data() + "/imagesTs -o " + (folder / "out/maps") +
                                           " --quiet --json --audit " + (folder / "out/audit.jsonl"),
                                       "", confined);
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_EQ(r.json().at("cases").size(), 1u);
  EXPECT_THAT(file_text(folder / "out/audit.jsonl"), testing::HasSubstr("\"uid\":65534,"));
  EXPECT_EQ(run_voxshard("check --audit " + (folder / "out/audit.jsonl")).exit_code, 0);
}

}  // namespace
}  // namespace voxshard
