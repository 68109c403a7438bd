// Files whose names are not UTF-8, as on disks that were written long ago: wherever folders are listed, each such file
// alone is left out with E_NAME, because results are JSON, which cannot hold such a name.
#include "tests/cli/trained_cli.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

/// Returns a name that is not UTF-8: "bad\xff" + ending.
std::string bad(const std::string& ending) { return "bad\xff" + ending; }

class Names : public TrainedCli {
 protected:
  /// Expects exit code 8, and a list of what was left out that names the file in printable form.
  static CommandResult expect_left_out(const std::string& words, const std::string& list, const std::string& row) {
    const CommandResult r = run_voxshard(words + " --json");
    EXPECT_EQ(r.exit_code, 8) << words << "\n" << r.err;
    if (!list.empty()) {
      EXPECT_THAT(file_text(list), HasSubstr(row)) << words;
    } else {
      EXPECT_THAT(r.json().at("failures").dump(),
                  testing::AllOf(HasSubstr("E_NAME"), HasSubstr(nlohmann::json(row).dump())))
          << words;
    }
    EXPECT_THAT(r.err + r.out, Not(HasSubstr("\xff"))) << words;
    return r;
  }
};

TEST_F(Names, OfClassesThatAreNoUtf8CostTheItem) {
  Folder f("classes");
  ASSERT_EQ(run_voxshard("demo " + (f / "pictures") + " --task detection --cases 8 --test 1 -q").exit_code, 0);
  int i = 0;
  for (const auto& entry : fs::recursive_directory_iterator(f / "pictures")) {
    if (entry.path().extension() != ".png" || i == 8) continue;
    const fs::path folder = fs::path(f / "set") / (i % 2 == 0 ? "left" : "right");
    fs::create_directories(folder);
    fs::copy_file(entry.path(), folder / (std::to_string(i++) + ".png"));
  }
  fs::copy_file(f / "set/left/0.png", f / ("set/left/" + bad(".png")));
  fs::create_directories(f / ("set/left/" + bad("")));
  fs::copy_file(f / "set/left/0.png", f / ("set/left/" + bad("") + "/a.png"));
  expect_left_out("train " + (f / "set") + " -o " + (f / "run") +
                      " --model resnet18 --base-filters 2 --batch 2 --steps 1 --precision f32",
                  f / "run/quarantine.csv", "left/bad\\xff.png,E_NAME,");
  EXPECT_THAT(file_text(f / "run/quarantine.csv"), HasSubstr("left/bad\\xff/a.png,E_NAME,"));
  expect_left_out("predict " + (f / "run") + " " + (f / "set/left") + " -o " + (f / "left.json"),
                  f / "left.quarantine.csv", "bad\\xff.png,E_NAME,");
  expect_left_out("predict " + (f / "run") + " " + (f / "set") + " -o " + (f / "all.json"), f / "all.quarantine.csv",
                  "left/bad\\xff.png,E_NAME,");
  expect_left_out("evaluate " + (f / "all.json") + " " + (f / "set"), "", "left/bad\\xff.png");
}

TEST_F(Names, OfVolumesThatAreNoUtf8CostTheCase) {
  Folder f("volumes");
  fs::copy(data(), f / "data", fs::copy_options::recursive);
  for (const char* part : {"imagesTr", "imagesTs"})
    for (const auto& entry : fs::directory_iterator(f / ("data/" + std::string(part)))) {
      fs::copy_file(entry.path(), entry.path().parent_path() / bad("_0000.nii.gz"));
      break;
    }
  fs::copy_file(f / "data/labelsTr/phantom_000.nii.gz", f / ("data/labelsTr/" + bad(".nii.gz")));
  expect_left_out("prepare " + (f / "data") + " -o " + (f / "work") + " --spacing 8,8,8", f / "work/quarantine.csv",
                  "bad\\xff,E_NAME,");
  expect_left_out("predict " + run() + " " + (f / "data/imagesTs") + " -o " + (f / "pred"), f / "pred/quarantine.csv",
                  "bad\\xff,E_NAME,");
  const CommandResult scores =
      expect_left_out("evaluate " + (f / "data/labelsTr") + " " + (f / "data/labelsTr"), "", "bad\\xff");
  EXPECT_EQ(scores.json().at("cases").size(), 2u);
  const CommandResult info = run_voxshard("info " + (f / "data/imagesTr") + " --json");
  EXPECT_EQ(info.exit_code, 0) << info.err << "info reads what others leave out";
  EXPECT_THAT(info.out, Not(HasSubstr("\xff")));
}

TEST_F(Names, OfImagesThatAreNoUtf8CostTheImage) {
  Folder f("pictures");
  ASSERT_EQ(run_voxshard("demo " + (f / "data") + " --task detection --cases 4 --test 1 -q").exit_code, 0);
  std::vector<fs::path> images;
  for (const auto& entry : fs::recursive_directory_iterator(f / "data"))
    if (entry.path().extension() == ".png") images.push_back(entry.path());
  ASSERT_GE(images.size(), 4u);
  fs::create_directories(f / "kitti/image_2"), fs::create_directories(f / "kitti/label_2");
  fs::create_directories(f / "voc/JPEGImages"), fs::create_directories(f / "voc/Annotations");
  fs::create_directories(f / "mot/img1"), fs::create_directories(f / "mot/gt");
  const std::vector<std::string> names = {"1", "2", "3", bad("4")};
  std::string rows;
  for (std::size_t i = 0; i < names.size(); ++i) {
    fs::copy_file(images[i], f / ("kitti/image_2/" + names[i] + ".png"));
    f.write("kitti/label_2/" + names[i] + ".txt", "Car 0 0 0 1 1 20 20 0 0 0 0 0 0 0\n");
    fs::copy_file(images[i], f / ("voc/JPEGImages/" + names[i] + ".jpg"));
    f.write("voc/Annotations/" + names[i] + ".xml",
            "<annotation><filename>" + names[i] +
                ".jpg</filename><object><name>car</name><bndbox><xmin>2</xmin><ymin>2</ymin>"
                "<xmax>20</xmax><ymax>20</ymax></bndbox></object></annotation>");
    fs::copy_file(images[i], f / ("mot/img1/" + names[i] + ".png"));
    rows += std::to_string(i + 1) + ",1,1,1,20,20,1,1,1\n";
  }
  f.write("mot/gt/gt.txt", rows);
  const std::string model =
      " --model retinanet --backbone resnet18 --base-filters 4 --pyramid-filters 8 --crop 64x64 --steps 1 --batch 1 "
      "-o ";
  for (const std::string set : {"kitti", "voc", "mot"})
    expect_left_out("train " + (f / set) + model + (f / ("run_" + set)), f / ("run_" + set + "/quarantine.csv"),
                    "E_NAME");
  expect_left_out("predict " + (f / "run_kitti") + " " + (f / "kitti/image_2") + " -o " + (f / "found.json"),
                  f / "found.quarantine.csv", "bad\\xff4.png,E_NAME,");
}

TEST_F(Names, OfVideosThatAreNoUtf8CostTheVideo) {
  Folder f("clips");
  ASSERT_EQ(
      run_voxshard("demo " + (f / "data") + " --task classification --kind motion --cases 12 --test 6 -q").exit_code,
      0);
  fs::path video;
  for (const auto& entry : fs::recursive_directory_iterator(f / "data"))
    if (entry.path().extension() == ".mp4" || entry.path().extension() == ".mkv") video = entry.path();
  ASSERT_FALSE(video.empty());
  fs::create_directories(f / "in");
  fs::copy_file(video, f / ("in/good" + video.extension().string()));
  fs::copy_file(video, f / ("in/" + bad(video.extension().string())));
  const CommandResult info = run_voxshard("info " + (f / "in") + " --json");
  EXPECT_EQ(info.exit_code, 0) << info.err;
  EXPECT_THAT(info.out, Not(HasSubstr("\xff")));
  fs::copy_file(video, video.parent_path() / bad(video.extension().string()));
  expect_left_out("train " + (f / "data") + " -o " + (f / "run") +
                      " --model r2plus1d18 --base-filters 4 --clip-length 4 --size 32x32 --steps 1 --batch 1",
                  f / "run/quarantine.csv", "/bad\\xff" + video.extension().string() + ",E_NAME,");
  expect_left_out("predict " + (f / "run") + " " + (f / "in") + " -o " + (f / "found.json"), f / "found.quarantine.csv",
                  "bad\\xff" + video.extension().string() + ",E_NAME,");
}

TEST_F(Names, OfRecordsThatAreNoUtf8CostTheFile) {
  Folder f("records");
  ASSERT_EQ(run_voxshard("convert " + data() + " -o " + (f / "records") + " -q").exit_code, 0);
  for (const auto& entry : fs::directory_iterator(f / "records"))
    if (entry.path().extension() == ".tfrecords") {
      fs::copy_file(entry.path(), entry.path().parent_path() / bad(".tfrecords"));
      break;
    }
  const CommandResult r = run_voxshard("convert " + (f / "records") + " -o " + (f / "again") + " --json");
  EXPECT_EQ(r.exit_code, 8) << r.err;
  EXPECT_THAT(r.out, HasSubstr("E_NAME"));
}

/// Folders are named by the caller; outputs contain their names as well as JSON can hold them.
TEST_F(Names, OfFoldersThatAreNoUtf8EndNothing) {
  Folder f("folders");
  const std::string set = f / bad(""), made = f / ("made" + bad(""));
  fs::copy(data(), set, fs::copy_options::recursive);
  const auto quoted = [](const std::string& path) { return " '" + path + "' "; };
  EXPECT_EQ(run_voxshard("info" + quoted(set)).exit_code, 0);
  ASSERT_EQ(run_voxshard("prepare" + quoted(set) + "-o" + quoted(made) + "--spacing 8,8,8").exit_code, 0);
  const std::string run = f / ("run" + bad(""));
  ASSERT_EQ(run_voxshard("train " + work() + " -o" + quoted(run) + kModel + kTraining).exit_code, 0);
  const CommandResult resumed = run_voxshard("train --resume" + quoted(run) + "--steps 3");
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  // A run records the name of the folder that it trains on, for resuming.
  expect_refusal("train" + quoted(made) + "-o " + (f / "refused") + kModel + kTraining, 3, "input", "is no UTF-8");
  EXPECT_EQ(run_voxshard("predict" + quoted(run) + quoted(set + "/imagesTs") + "-o" + quoted(f / ("pred" + bad(""))))
                .exit_code,
            0);
  EXPECT_EQ(run_voxshard("convert" + quoted(set) + "-o" + quoted(f / ("records" + bad("")))).exit_code, 0);
  const CommandResult back = run_voxshard("convert" + quoted(f / ("records" + bad(""))) + "-o" + quoted(f / "back"));
  EXPECT_EQ(back.exit_code, 0) << back.err;
}

}  // namespace
}  // namespace voxshard
