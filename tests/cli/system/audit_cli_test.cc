// `predict --audit` and `check --audit` as a hospital's IT uses them: a line for each case of every task, whose hashes
// sha256sum prints too, and a file of which every change is found.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "tests/cli/process.h"
#include "tests/cli/trained_cli.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

/// Returns what sha256sum prints of a file.
std::string sha256sum(const std::string& file) {
  const Folder folder("sum");
  EXPECT_EQ(std::system(("sha256sum " + file + " >" + (folder / "sum")).c_str()), 0) << file;
  return file_text(folder / "sum").substr(0, 64);
}

std::vector<json> lines_of(const std::string& audit) {
  std::istringstream in(file_text(audit));
  std::vector<json> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(json::parse(line));
  return lines;
}

json checked(const std::string& words, int exit_code) {
  const CommandResult r = run_voxshard("check --json --audit " + words);
  EXPECT_EQ(r.exit_code, exit_code) << r.out << r.err;
  return r.json().value("audit", json());
}

class AuditCli : public TrainedCli {
 protected:
  std::string audit() const { return scene_ / "audit.jsonl"; }
  std::string predict(const std::string& input, const std::string& more = "") const {
    return "predict " + run() + " " + input + " -o " + (scene_ / "out") + " --audit " + audit() + " " + more;
  }
  /// A folder with one image of the demo and one that is cut.
  std::string images() const {
    fs::create_directories(scene_ / "in");
    for (const char* name : {"good", "cut"})
      fs::copy_file(data() + "/imagesTr/phantom_000_0000.nii.gz", scene_ / ("in/" + std::string(name) + ".nii.gz"),
                    fs::copy_options::skip_existing);
    fs::resize_file(scene_ / "in/cut.nii.gz", 4000);
    return scene_ / "in";
  }
  Folder scene_{"audit"};
};

TEST_F(AuditCli, EachCaseHasALineWithTheHashesThatOthersPrint) {
  const std::string in = images();
  ASSERT_EQ(run_voxshard(predict(in, "--quiet")).exit_code, 8);
  auto lines = lines_of(audit());
  ASSERT_EQ(lines.size(), 2u);
  std::ranges::sort(lines, {}, [](const json& line) { return line.at("case").get<std::string>(); });
  const json &cut = lines[0], &good = lines[1];
  EXPECT_EQ(good.at("case"), "good");
  EXPECT_EQ(good.at("outcome"), "predicted");
  EXPECT_EQ(good.at("code"), "");
  EXPECT_EQ(good.at("command"), "predict");
  EXPECT_EQ(good.at("uid"), ::getuid());
  EXPECT_EQ(good.at("input"), sha256sum(in + "/good.nii.gz"));
  EXPECT_EQ(good.at("outputs"), json::array({sha256sum(scene_ / "out/good.nii.gz")}));
  const CommandResult used = run_voxshard("predict " + run() + " " + in + " -o " + (scene_ / "out") + " --json");
  EXPECT_EQ(good.at("model"), sha256sum(used.json().at("checkpoint").get<std::string>()));
  EXPECT_EQ(cut.at("case"), "cut");
  EXPECT_EQ(cut.at("outcome"), "failed");
  EXPECT_EQ(cut.at("code"), "E_READ");
  EXPECT_EQ(cut.at("input"), sha256sum(in + "/cut.nii.gz"));
  EXPECT_EQ(cut.at("outputs"), json::array());

  ASSERT_EQ(run_voxshard(predict(in, "--quiet")).exit_code, 8);
  EXPECT_EQ(lines_of(audit()).size(), 4u) << "the second call goes on with the file";
  EXPECT_THAT(file_text(audit()), HasSubstr("\"case\":\"good\",\"outcome\":\"kept\""));
  struct stat about {};
  ASSERT_EQ(::stat(audit().c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0600u);
  EXPECT_EQ(file_text(audit()).find(scene_.path().string()), std::string::npos) << "no path";
}

TEST_F(AuditCli, ADryRunWritesNoLineAndAllFilesOfACaseAreAmongTheOutputs) {
  const std::string in = data() + "/imagesTs";
  ASSERT_EQ(run_voxshard(predict(in, "--dry-run --quiet")).exit_code, 0);
  EXPECT_FALSE(fs::exists(audit()));
  for (int call = 0; call < 2; ++call)
    ASSERT_EQ(run_voxshard(predict(in, "--probabilities --write measures --quiet")).exit_code, 0);
  const auto lines = lines_of(audit());
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[1].at("outcome"), "kept");
  const std::string id = lines[0].at("case");
  json hashes = json::array();  // the label map's, then those beside it
  for (const char* ending : {".nii.gz", ".measures.json", ".npz"})
    hashes.push_back(sha256sum(scene_ / ("out/" + id + ending)));
  for (const json& line : lines) EXPECT_EQ(line.at("outputs"), hashes) << line.at("outcome");
}

TEST_F(AuditCli, CheckNamesTheFirstLineThatIsWrong) {
  const std::string in = data() + "/imagesTr";
  ASSERT_EQ(run_voxshard(predict(in, "--quiet")).exit_code, 0);
  const std::string whole = file_text(audit());
  const json good = checked(audit(), 0);
  EXPECT_EQ(good.at("lines"), 2);
  EXPECT_TRUE(good.at("broken").is_null());
  const std::string last = good.at("last_hash");
  EXPECT_EQ(checked(audit() + " --audit-end " + last, 0).at("behind_end"), 0);

  std::string changed = whole;
  changed[whole.find('\n') + 30] ^= 1;
  scene_.write("audit.jsonl", changed);
  const json broken = checked(audit(), 9);
  EXPECT_EQ(broken.at("broken").at("line"), 2);
  EXPECT_EQ(broken.at("broken").at("what"), "changed");
  EXPECT_THAT(run_voxshard("check --audit " + audit()).out, HasSubstr("line 2 is changed"));
  const CommandResult refused = run_voxshard(predict(in));
  EXPECT_EQ(refused.exit_code, 6) << "nothing is appended to it: " << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("check --audit"));
  EXPECT_EQ(file_text(audit()), changed);

  scene_.write("audit.jsonl", whole.substr(0, whole.find('\n') + 1));
  EXPECT_EQ(checked(audit(), 0).at("lines"), 1);
  EXPECT_EQ(checked(audit() + " --audit-end " + last, 9).at("broken").at("what"), "cut");
}

TEST_F(AuditCli, ALineThatACrashCutIsSaidAndKept) {
  const std::string in = data() + "/imagesTr";
  ASSERT_EQ(run_voxshard(predict(in, "--quiet")).exit_code, 0);
  fs::resize_file(audit(), fs::file_size(audit()) - 100);
  EXPECT_EQ(checked(audit(), 9).at("broken").at("what"), "cut");
  const CommandResult again = run_voxshard(predict(in));
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_THAT(again.err, HasSubstr("a crash cut the last line short"));
  const json found = checked(audit(), 0);
  EXPECT_EQ(found.at("torn"), 1);
  EXPECT_EQ(found.at("lines"), 3);
}

TEST_F(AuditCli, AKilledPredictionLeavesAChainThatIsGoneOnWith) {
  const std::string in = data() + "/imagesTr";
  {
    Process first(predict(in));
    ASSERT_TRUE(first.read_until("phantom_001: predicted in"));  // said before its line is written
    first.send(SIGKILL);
    first.wait();
  }
  ASSERT_EQ(run_voxshard(predict(in, "--quiet")).exit_code, 0);
  checked(audit(), 0);
  const auto lines = lines_of(audit());
  ASSERT_GE(lines.size(), 3u) << "one of the killed call, or two, and two of the next";
  EXPECT_EQ(std::ranges::count_if(lines, [](const json& line) { return line.at("outcome") == "kept"; }), 2);
}

TEST_F(AuditCli, AFileThatCannotBeTheAuditEndsTheCallBeforeAnythingIsPredicted) {
  const std::string in = data() + "/imagesTs";
  const auto refused = [&](const std::string& file, int code) {
    EXPECT_EQ(run_voxshard("predict " + run() + " " + in + " -o " + (scene_ / "out") + " --audit " + file).exit_code,
              code)
        << file;
    EXPECT_FALSE(fs::exists(scene_ / "out/manifest.jsonl"));
  };
  scene_.write("notes.jsonl", "notes\n");
  refused(scene_ / "notes.jsonl", 6);
  EXPECT_EQ(file_text(scene_ / "notes.jsonl"), "notes\n");
  refused(scene_ / "audit.txt", 2);
  refused(scene_ / "nowhere/audit.jsonl", 6);
  expect_refusal("check --audit " + (scene_ / "notes.jsonl"), 3, "input", "is no audit file");
  expect_refusal("check " + data() + " --audit " + audit(), 2, "usage", "instead of a data set");
  expect_refusal("check --audit-end " + std::string(64, 'a'), 2, "usage", "--audit");
  for (const std::string options :
       {"--images x --labels y", "--deep", "--csv found.csv", "-o found", "--host-memory 1GiB", "--classes map.toml"})
    expect_refusal("check " + options + " --audit " + audit(), 2, "usage", "is about a data set");
  expect_refusal("check --audit " + audit() + " --audit-end abc", 2, "usage", "64 hexadecimal digits");
}

TEST_F(AuditCli, PicturesAndClassesHaveLinesToo) {
  struct Other {
    const char *demo, *train, *input;
  };
  for (const Other& other :
       {Other{"--task detection --cases 3 --test 2",
              "--model retinanet --backbone resnet18 --base-filters 4 --pyramid-filters 8 --crop 64x64 --precision f32",
              "/val"},
        Other{"--task classification --cases 40 --test 4", "--model digits --batch 20 --precision f32", ""}}) {
    const Folder folder("audited");
    const std::string set = folder / "set";
    ASSERT_EQ(run_voxshard("demo " + set + " " + other.demo + " --quiet").exit_code, 0) << other.demo;
    const CommandResult trained =
        run_voxshard("train " + set + " -o " + (folder / "run") + " " + other.train + " --steps 1 --quiet");
    ASSERT_EQ(trained.exit_code, 0) << trained.err;
    const CommandResult found =
        run_voxshard("predict " + (folder / "run") + " " + set + other.input + " -o " + (folder / "found.json") +
                     " --audit " + (folder / "audit.jsonl") + " --json");
    ASSERT_EQ(found.exit_code, 0) << found.err;
    const auto lines = lines_of(folder / "audit.jsonl");
    const auto cases = found.json().at("cases");
    ASSERT_EQ(lines.size(), cases.size()) << other.demo;
    ASSERT_GE(lines.size(), 2u);
    const std::string output = sha256sum(folder / "found.json");
    for (std::size_t i = 0; i < lines.size(); ++i) {
      EXPECT_EQ(lines[i].at("case"), cases[i].at("id"));
      EXPECT_EQ(lines[i].at("outputs"), json::array({output}));
      EXPECT_NE(lines[i].at("input"), "");
    }
    checked(folder / "audit.jsonl", 0);
  }
}

TEST_F(AuditCli, AVideoIsOneCase) {
  const Folder folder("video");
  if (std::system(("ffmpeg -v error -nostdin -f lavfi -i testsrc2=size=96x64:rate=5:duration=1 -c:v ffv1 " +
                   (folder / "clip.mkv") + " 2>/dev/null")
                      .c_str()) != 0)
    GTEST_SKIP() << "no ffmpeg (Debian: ffmpeg)";
  const std::string set = folder / "set";
  ASSERT_EQ(run_voxshard("demo " + set + " --task detection --cases 3 --test 1 --quiet").exit_code, 0);
  ASSERT_EQ(run_voxshard("train " + set + " -o " + (folder / "run") +
                         " --model retinanet --backbone resnet18 --base-filters 4 --pyramid-filters 8 --crop 64x64 "
                         "--precision f32 --steps 1 --quiet")
                .exit_code,
            0);
  const CommandResult r = run_voxshard("predict " + (folder / "run") + " " + (folder / "clip.mkv") + " -o " +
                                       (folder / "found.json") + " --quiet --audit " + (folder / "audit.jsonl"));
  ASSERT_EQ(r.exit_code, 0) << r.err;
  const auto lines = lines_of(folder / "audit.jsonl");
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].at("case"), "clip.mkv");
  EXPECT_EQ(lines[0].at("input"), sha256sum(folder / "clip.mkv"));
  EXPECT_EQ(lines[0].at("outputs"), json::array({sha256sum(folder / "found.json")}));
}

}  // namespace
}  // namespace voxshard
