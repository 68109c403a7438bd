// Data sets of classes with something wrong, as a user meets them: a bad item alone is left out, with its code in
// quarantine.csv and exit code 8, or the whole set is refused with a reason.
#include <sstream>

#include "tests/cli/trained_cli.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

/// Data sets with images of several sizes in two classes, and with pairs of IDX files.
class BadClassesCli : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new Folder("bad_classes");
    ASSERT_EQ(run_voxshard("demo " + file("pictures") + " --task detection --cases 8 --test 1 -q").exit_code, 0);
    ASSERT_EQ(run_voxshard("demo " + file("digits") + " --task classification --cases 30 --test 10 -q").exit_code, 0);
  }
  static void TearDownTestSuite() {
    delete folder_;
    folder_ = nullptr;
  }
  static std::string file(const std::string& name) { return *folder_ / name; }

  /// Makes a data set with four images in each of the classes "left" and "right".
  static void classes(const std::string& name) {
    int i = 0;
    for (const auto& entry : fs::recursive_directory_iterator(file("pictures"))) {
      if (entry.path().extension() != ".png" || i == 8) continue;
      const fs::path folder = fs::path(file(name)) / (i % 2 == 0 ? "left" : "right");
      fs::create_directories(folder);
      fs::copy_file(entry.path(), folder / (std::to_string(i++) + ".png"));
    }
    ASSERT_EQ(i, 8);
  }
  static std::string resnet(const std::string& data, const std::string& run, const std::string& more = "") {
    return "train " + file(data) + " -o " + file(run) +
           " --model resnet18 --base-filters 2 --batch 2 --steps 1 --precision f32 " + more;
  }
  static std::string digits(const std::string& data) {
    return "train " + file(data) + " -o " + file("refused") + " --model digits --steps 1";
  }
  /// Makes a data set of the digits with one of its files replaced.
  static void idx(const std::string& name, const std::string& replaced, const std::string& bytes) {
    fs::create_directories(file(name));
    for (const auto& entry : fs::directory_iterator(file("digits")))
      if (entry.path().filename().string().ends_with("ubyte"))
        fs::copy_file(entry.path(), fs::path(file(name)) / entry.path().filename());
    std::ofstream(file(name) + "/" + replaced, std::ios::binary) << bytes;
  }
  inline static Folder* folder_ = nullptr;
};

TEST_F(BadClassesCli, WhatCannotBeUsedIsListedAndTheOthersAreTrainedOn) {
  classes("some");
  std::ofstream(file("some/left/text.png")) << "no picture";
  std::ofstream(file("some/beside.png")) << "no picture";
  fs::create_directories(file("some/empty"));
  const CommandResult r = run_voxshard(resnet("some", "some_run", "--json"));
  ASSERT_EQ(r.exit_code, 8) << r.err;
  EXPECT_EQ(r.json().at("left_out"), 3);
  const std::string list = file_text(file("some_run/quarantine.csv"));
  for (const char* row : {"left/text.png,E_READ,", "beside.png,E_CLASS,", "empty,E_EMPTY,"})
    EXPECT_THAT(list, HasSubstr(row));
  const std::string predict =
      "predict " + file("some_run") + " " + file("some") + " -o " + file("some.json") + " --json";
  const CommandResult beside = run_voxshard(predict);
  EXPECT_EQ(beside.exit_code, 4) << "only what lies beside the folders is predicted, and it is no picture";
  EXPECT_THAT(beside.err, HasSubstr("only those beside are predicted"));
  fs::remove(file("some/beside.png"));
  const CommandResult predicted = run_voxshard(predict);
  EXPECT_EQ(predicted.exit_code, 8) << predicted.err;
  EXPECT_EQ(predicted.json().at("cases").size(), 8u);
  EXPECT_THAT(file_text(file("some.quarantine.csv")), HasSubstr("left/text.png,E_READ,"));
  expect_refusal("evaluate " + file("none.json") + " " + file("some"), 3, "input", "none.json does not exist");
}

TEST_F(BadClassesCli, AClassThatTrainingNeverSawIsLeftOutOfScores) {
  classes("seen");
  classes("later/test");
  fs::rename(file("later/test/right"), file("later/test/unheard"));
  fs::create_directories(file("later/train"));
  for (const char* name : {"left", "right"})
    fs::copy(file(std::string("seen/") + name), file(std::string("later/train/") + name), fs::copy_options::recursive);
  const CommandResult trained = run_voxshard(resnet("later", "later_run", "--json"));
  EXPECT_EQ(trained.exit_code, 8) << trained.err;
  EXPECT_THAT(file_text(file("later_run/quarantine.csv")),
              HasSubstr(R"(is of the class ""unheard"", which the training)"));
  ASSERT_EQ(run_voxshard("predict " + file("later_run") + " " + file("later") + " -o " + file("later.json")).exit_code,
            0);
  const CommandResult scored = run_voxshard("evaluate " + file("later.json") + " " + file("later") + " --json");
  EXPECT_EQ(scored.exit_code, 8) << scored.err;
  EXPECT_EQ(scored.json().at("items"), 4);
  EXPECT_EQ(scored.json().at("failures").at(0).at("code"), "E_CLASS");
}

TEST_F(BadClassesCli, ImagesOfSeveralSizesArePaddedUnlessASizeIsSaid) {
  classes("sizes");
  const CommandResult padded = run_voxshard(resnet("sizes", "padded", "--json"));
  EXPECT_EQ(padded.exit_code, 0) << padded.err;
  const CommandResult resized = run_voxshard(resnet("sizes", "resized", "--size 64x48 --fit resize --json"));
  EXPECT_EQ(resized.exit_code, 0) << resized.err;
  EXPECT_EQ(resized.json().at("train_cases").get<int>() + resized.json().at("validation_cases").get<int>(), 8);
  expect_refusal(resnet("sizes", "larger", "--size 64x48"), 4, "no_case", "larger than the 64x48 that the model sees");
  expect_refusal(resnet("sizes", "unsaid", "--fit resize"), 2, "usage", "--size");
  expect_refusal(resnet("sizes", "volume", "--size 64x48x32"), 2, "usage", "2 spatial axes");
}

TEST_F(BadClassesCli, OneClassOrNoneIsRefused) {
  classes("one");
  fs::remove_all(file("one/right"));
  expect_refusal(resnet("one", "one_run"), 5, "config", "has one class, left");
  fs::create_directories(file("one/right"));
  expect_refusal(resnet("one", "one_run"), 5, "config", "has one class, left");
  fs::create_directories(file("nothing/a"));
  expect_refusal(resnet("nothing", "one_run"), 3, "input", "is no data set of classes");
  EXPECT_FALSE(fs::exists(file("one_run")));
}

TEST_F(BadClassesCli, AListMayNameNothingOutsideOfItsFolder) {
  classes("listed");
  std::ofstream(file("listed/list.csv")) << "file,class\nleft/0.png,a\nleft/2.png,a\nright/1.png,b\nright/3.png,b\n"
                                            "../pictures/x.png,a\n/etc/passwd,b\nleft/gone.png,a\nleft/4.png\n";
  const CommandResult r = run_voxshard(resnet("listed/list.csv", "listed_run", "--json"));
  ASSERT_EQ(r.exit_code, 8) << r.err;
  EXPECT_EQ(r.json().at("left_out"), 4);
  const std::string list = file_text(file("listed_run/quarantine.csv"));
  for (const char* row :
       {"list.csv line 6,E_NAME,", "list.csv line 7,E_NAME,", "left/gone.png,E_", "list.csv line 9,E_SYNTAX,"})
    EXPECT_THAT(list, HasSubstr(row)) << list;
  std::ofstream(file("listed/bad.csv")) << "{\"a\": 1}\n";
  expect_refusal(resnet("listed/bad.csv", "listed_run2"), 3, "input", "expected rows of two columns");
}

TEST_F(BadClassesCli, IdxFilesThatLieAreRefusedByName) {
  const std::string images = file_text(file("digits/train-images-idx3-ubyte")),
                    labels = file_text(file("digits/train-labels-idx1-ubyte"));
  std::string fewer = labels.substr(0, labels.size() - 1), many = images, other = images;
  fewer[7] = 29;
  for (int i = 4; i < 16; ++i) many[i] = '\xff';
  other[2] = 0x0d;
  const std::string cut = images.substr(0, images.size() / 2);
  int i = 0;
  for (const auto& [name, bytes, piece] :
       {std::tuple{"train-labels-idx1-ubyte", fewer, "holds 29 labels for the 30 images"},
        std::tuple{"train-labels-idx1-ubyte", images, "give the file of labels"},
        std::tuple{"train-images-idx3-ubyte", many, "promises more than"},
        std::tuple{"train-images-idx3-ubyte", other, "unsigned bytes"},
        std::tuple{"train-images-idx3-ubyte", cut, "can hold"},
        std::tuple{"t10k-images-idx3-ubyte", std::string("x"), "is cut off within its header"}}) {
    const std::string folder = "idx" + std::to_string(i++);
    idx(folder, name, bytes);
    expect_refusal(digits(folder), 3, "input", piece);
    expect_refusal(digits(folder), 3, "input", name);
  }
  idx("alone", "other", "");
  fs::remove(file("alone/train-labels-idx1-ubyte"));
  expect_refusal(digits("alone"), 3, "input", "lies there without train-labels-idx1-ubyte");
  EXPECT_FALSE(fs::exists(file("refused")));
}

TEST_F(BadClassesCli, AClassOfADigitThatTrainingLacksIsLeftOut) {
  std::string labels = file_text(file("digits/t10k-labels-idx1-ubyte"));
  labels.back() = 77;
  idx("new_digit", "t10k-labels-idx1-ubyte", labels);
  const CommandResult r = run_voxshard("train " + file("new_digit") + " -o " + file("digit_run") +
                                       " --model digits --steps 1 --batch 8 --precision f32 --json");
  EXPECT_EQ(r.exit_code, 8) << r.err;
  EXPECT_EQ(r.json().at("validation_cases"), 9);
  EXPECT_THAT(file_text(file("digit_run/quarantine.csv")), HasSubstr("00009,E_CLASS,"));
  EXPECT_THAT(r.err, HasSubstr("W_CLASS nothing that validates is of the class 9"));
}

}  // namespace
}  // namespace voxshard
