// Training on clips: it learns, time is cut like space, and errors are reported.
#include <gmock/gmock.h>

#include "io/files/config_file.h"
#include "pipelines/model_runs/checkpoint.h"
#include "tests/io/test_files.h"
#include "tests/io/video/video_scene.h"
#include "tests/pipelines/tasks/classification/clip_scene.h"

namespace voxshard {
namespace {

using testing::HasSubstr;

ClassTaskOptions& clip_options(TrainOptions& o) { return o.task.of<ClassTaskOptions>(); }

TEST(TrainClips, ClipsOfSeveralSizesAreLearnt) {
  ClipScene scene("train_clips");
  scene.dark_and_bright_videos("data", 4, 8);
  scene.video("data/dark/tall.mp4", 9, {.height = 14, .width = 8, .ground = 30, .step = 1});
  TrainOptions o = scene.toy_clips("run");
  o.spec.cut.mesh.partition = {1, 2, 1, 2, 1}, clip_options(o).pad_multiple = 1;
  const TrainReport report = run_train(o, scene.progress);
  EXPECT_EQ(report.train_cases + report.validation_cases, 18) << "two clips of each of nine videos";
  EXPECT_EQ(report.validation->score, 1.0);
  const nlohmann::json prepare = read_json(o.run / "plans.json").at("prepare");
  EXPECT_EQ(prepare.at("items"), "clips");
  EXPECT_EQ(prepare.at("clip_length"), 4);
  EXPECT_EQ(prepare.at("channels"), 3);
  EXPECT_THAT(Scene::bytes_of(o.run / "splits_final.json"), HasSubstr(".mp4#frames=4:8"));
}

TEST(TrainClips, AStepCutAlongTimeIsTheUncutStep) {
  ClipScene scene("train_clips_cut");
  for (const char* name : {"left/a.mp4", "left/b.mp4", "up/c.mp4", "up/d.mp4"})
    scene.video(std::string("data/") + name, 8, {.ground = name[0] == 'l' ? 20 : 60, .step = name[0] == 'l' ? 2 : 5});
  TrainOptions o = scene.toy_clips("whole");
  o.spec = usual_spec(model_named(model_table(), "r2plus1d18"));
  o.spec.precision = DType::kF32, o.spec.set("base_filters", std::int64_t{4});
  o.steps = 1, o.optimizer = {.kind = OptimizerKind::kSgd, .learning_rate = 1e-2};
  clip_options(o).clip_length = 8, clip_options(o).validates = false;
  const double uncut = run_train(o, scene.progress).loss;
  const auto weights = [&](const std::string& run) {
    return load_checkpoint(scene.path(run) / "checkpoints/last.safetensors").parameters;
  };
  const auto whole = weights("whole");
  ASSERT_GT(whole.size(), 50u);
  for (const Dims& grid : {Dims{1, 4, 1, 1, 1}, Dims{1, 2, 2, 1, 1}}) {
    o.run = scene.path(to_string(grid)), o.spec.cut.mesh.partition = grid;
    EXPECT_NEAR(run_train(o, scene.progress).loss, uncut, 1e-5) << to_string(grid);
    for (const auto& [name, tensor] : weights(to_string(grid)))
      EXPECT_LT(compare(whole.at(name).view(), tensor.view()).max_abs, 1e-4) << to_string(grid) << " " << name;
  }
}

TEST(TrainClips, RealVideosOfSeveralCodecsTrain) {
  const std::filesystem::path root = test_data() / "video";
  REQUIRE_TEST_DATA(root);
  ClipScene scene("train_clips_real");
  std::filesystem::create_directories(scene.data());
  std::filesystem::create_directory_symlink(root, scene.data() / "real");
  scene.write("data/list.csv",
              "file,start,end,class\nreal/torchcodec_bsd3/h265_video.mp4,0,0.5,scan\n"
              "real/torchcodec_bsd3/av1_video.mkv,2,2.4,scene\nreal/opencv_apache2/tree.avi,0,4,scene\n"
              "real/bgslibrary_mit/demo.avi,1,2,scan\nreal/datumaro_mit/test.mp4,0.5,9,scan\n"
              "real/torchcodec_bsd3/h265_video.mp4,0.5,0.6,scene\n");
  TrainOptions o = scene.toy_clips("run");
  o.work = scene.data() / "list.csv", o.steps = 2;
  clip_options(o).size = {24, 32}, clip_options(o).fit = "resize", clip_options(o).val_fraction = 0.3;
  const TrainReport report = run_train(o, scene.progress);
  EXPECT_EQ(report.train_cases + report.validation_cases, 13);
  EXPECT_GE(report.validation_cases, 3) << "a video of each class";
  EXPECT_EQ(report.left_out, 1) << "the last interval has one frame";
  EXPECT_THAT(Scene::bytes_of(o.run / "quarantine.csv"), HasSubstr("has 1 frames from 0.5 to 0.6 s"));
}

class DamagedTraining : public VideoClips {};

TEST_F(DamagedTraining, FramesThatDoNotDecodeAreSaidAndTheClipTrains) {
  ClipScene scene("train_clips_damaged");
  scene.dark_and_bright_videos("data", 2, 8);
  const std::filesystem::path lost = make_clip(scene.data() / "dark", "lost.mp4", "-c:v mjpeg", "96x64");
  std::string bytes = read_bytes(lost);
  std::size_t second = bytes.find("\xff\xd8", bytes.find("mdat"));
  second = bytes.find("\xff\xd8", second + 2);
  std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(second), 1000, '\0');
  write_bytes(lost, bytes);
  TrainOptions o = scene.toy_clips("run");
  o.steps = 1, clip_options(o).validates = false;
  EXPECT_EQ(run_train(o, scene.progress).train_cases, 14) << "two clips of each of four videos, six of the damaged one";
  EXPECT_THAT(
      scene.progress.lines,
      testing::Contains(HasSubstr("W_FRAMES 1 clip has frames that do not decode, the frame before stands in; the "
                                  "first is dark/lost.mp4#frames=0:4, with 1 of them")));
}

TEST(TrainClips, FramesAreResizedWhenToldAndPaddedElse) {
  ClipScene scene("train_clips_size");
  scene.dark_and_bright_videos("data", 2, 8);
  TrainOptions o = scene.toy_clips("run");
  o.steps = 1, clip_options(o).size = {6, 6}, clip_options(o).fit = "resize";
  run_train(o, scene.progress);
  EXPECT_EQ(read_json(o.run / "plans.json").at("prepare").at("size"), nlohmann::json({4, 6, 6}));
  o.run = scene.path("small"), clip_options(o).fit = "pad";
  expect_error(ErrorKind::kNoCase, "nothing is left to train on", [&] { run_train(o, scene.progress); });
}

TEST(TrainClips, SettingsOfClipsAreRefusedWithImagesAndThoseOfVolumesWithClips) {
  ClipScene scene("train_clips_settings");
  scene.dark_and_bright("data", 3);
  TrainOptions images = scene.toy_clips("run");
  images.spec = usual_spec(test::toy_classifier(2));
  expect_error(ErrorKind::kUsage, "{clip-length}, {stride}, {clip-shift} and {clip-mirror} are of clips",
               [&] { run_train(images, scene.progress); });
  std::filesystem::remove_all(scene.data());
  scene.dark_and_bright_videos("data", 2, 8);
  TrainOptions o = scene.toy_clips("run");
  clip_options(o).size = {4, 8, 10};
  expect_error(ErrorKind::kUsage, "T is {clip-length}", [&] { run_train(o, scene.progress); });
  clip_options(o).size = {}, clip_options(o).clip_length = 16;
  expect_error(ErrorKind::kNoCase, "no clip can be used", [&] { run_train(o, scene.progress); });
}

}  // namespace
}  // namespace voxshard
