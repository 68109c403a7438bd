// The average of several runs on volumes: that of their probabilities voxel by voxel, whatever the order in which the
// runs are given, the ranks and the threads; runs that do not agree are refused.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "io/files/config_file.h"
#include "pipelines/tasks/segmentation/inputs/volume_reading.h"
#include "pipelines/tasks/segmentation/samples/sample_source.h"
#include "pipelines/tasks/segmentation/scores/class_probabilities.h"
#include "tests/base/sanitizer.h"
#include "tests/pipelines/average_scene.h"
#include "tests/pipelines/tasks/detection/images_scene.h"
#include "tests/ranks/mailbox.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

TEST(AveragePredict, LabelsAreThoseOfTheMeanOfTheProbabilities) {
  AverageScene scene("average_mean");
  const PredictReport report = run_predict(scene.predict({"a", "b"}, "both"), scene.progress);
  ASSERT_EQ(report.cases.size(), 2u);
  run_predict(scene.predict({"a"}, "only_a"), scene.progress),
      run_predict(scene.predict({"b"}, "only_b"), scene.progress);
  EXPECT_NE(scene.maps("both"), scene.maps("only_a"));
  EXPECT_NE(scene.maps("both"), scene.maps("only_b"));
  for (const PredictedCase& c : report.cases) {
    const fs::path image = scene.data() / "imagesTr" / (c.id + "_0000.nii.gz");
    const RunProbabilities a = probabilities_of(scene.path("a"), image), b = probabilities_of(scene.path("b"), image);
    Volume close{a.prepared.image.geometry, Tensor(DType::kI32, a.prepared.image.geometry.shape())}, labels = close;
    const std::int64_t classes = a.of_voxels.shape()[3];
    std::int64_t close_calls = 0;
    for (std::int64_t v = 0; v < labels.voxels.count(); ++v) {
      std::vector<double> mean;
      for (std::int64_t k = 0; k < classes; ++k)
        mean.push_back((double{a.of_voxels.as<float>()[v * classes + k]} + b.of_voxels.as<float>()[v * classes + k]) /
                       2);
      const auto best = std::ranges::max_element(mean);
      labels.voxels.as<std::int32_t>()[v] = static_cast<std::int32_t>(best - mean.begin());
      std::vector<double> sorted = mean;
      std::ranges::sort(sorted, std::greater<>());
      const bool is_close = sorted[0] - sorted[1] < 4e-7;  // a few units of f32 at 1
      close.voxels.as<std::int32_t>()[v] = is_close, close_calls += is_close;
    }
    EXPECT_LT(close_calls, labels.voxels.count() / 100);
    const Volume expected = restore_label(labels, a.prepared.original, a.plan, a.prepared.crop);
    const Volume skipped = restore_label(close, a.prepared.original, a.plan, a.prepared.crop);
    const Volume found = read_label(c.file);
    ASSERT_EQ(found.voxels.shape(), expected.voxels.shape());
    std::int64_t differ = 0;
    for (std::int64_t v = 0; v < found.voxels.count(); ++v)
      differ += skipped.voxels.as<std::int32_t>()[v] == 0 &&
                found.voxels.as<std::int32_t>()[v] != expected.voxels.as<std::int32_t>()[v];
    EXPECT_EQ(differ, 0) << c.id;
  }
}

TEST(AveragePredict, ProbabilitiesOfTheRunsGiveTheLabelsOfTheirAverage) {
  AverageScene scene("average_files");
  const auto probabilities = [&](const std::vector<std::string>& runs, const std::string& output) {
    PredictOptions o = scene.predict(runs, output);
    o.task.of<VolumeReading>().probabilities = true;
    return run_predict(o, scene.progress);
  };
  run_predict(scene.predict({"a"}, "plain"), scene.progress);
  probabilities({"a"}, "of_a"), probabilities({"b"}, "of_b");
  EXPECT_EQ(scene.maps("of_a"), scene.maps("plain")) << "the option changes no label";
  const PredictReport both = probabilities({"a", "b"}, "both");
  run_predict(scene.predict({"a", "b"}, "both_plain"), scene.progress);
  EXPECT_EQ(scene.maps("both"), scene.maps("both_plain"));
  for (const PredictedCase& c : both.cases) {
    const Volume labels = read_label(c.file);
    const Shape& grid = labels.voxels.shape();
    const auto [a, shape] = halves_of(scene.path("of_a/" + c.id + ".npz"));
    const auto [b, same_shape] = halves_of(scene.path("of_b/" + c.id + ".npz"));
    const auto [mean, shape_of_both] = halves_of(scene.path("both/" + c.id + ".npz"));
    const std::size_t voxels = static_cast<std::size_t>(labels.voxels.count()), classes = a.size() / voxels;
    EXPECT_EQ(shape, "(" + std::to_string(classes) + ", " + std::to_string(grid[0]) + ", " + std::to_string(grid[1]) +
                         ", " + std::to_string(grid[2]) + ", )");
    ASSERT_EQ(b.size(), a.size());
    ASSERT_EQ(mean.size(), a.size());
    std::size_t ties = 0, wrong = 0;
    for (std::size_t v = 0; v < voxels; ++v) {
      double best = -1, second = -1, sum = 0;
      std::size_t label = 0;
      for (std::size_t k = 0; k < classes; ++k) {
        const double p = (a[k * voxels + v] + b[k * voxels + v]) / 2;
        ASSERT_NEAR(mean[k * voxels + v], p, 1.01 * 0x1p-11) << "half a unit of f16 at 1 of each of the three";
        sum += a[k * voxels + v];
        if (p > best)
          second = best, best = p, label = k;
        else
          second = std::max(second, p);
      }
      ASSERT_NEAR(sum, 1, 1e-3 * static_cast<double>(classes));
      const bool tie = best - second <= 0x1p-10;
      ties += tie;
      wrong += !tie && std::cmp_not_equal(label, labels.voxels.as<std::int32_t>()[v]);
    }
    EXPECT_EQ(wrong, 0u) << c.id;
    EXPECT_LT(ties, voxels / 20);
  }
  EXPECT_EQ(probabilities({"a", "b"}, "both").kept, 2);
  const std::string before = Scene::bytes_of(scene.path("both/phantom_000.npz"));
  fs::remove(scene.path("both/phantom_000.npz"));
  EXPECT_EQ(probabilities({"b", "a"}, "both").kept, 1) << "both files or none";
  EXPECT_EQ(Scene::bytes_of(scene.path("both/phantom_000.npz")), before) << "neither clock nor order is in the bytes";
  EXPECT_EQ(run_predict(scene.predict({"a", "b"}, "both"), scene.progress).kept, 0);
  EXPECT_FALSE(fs::exists(scene.path("both/phantom_000.npz"))) << "nobody asked for it this time";
}

TEST(AveragePredict, ProbabilitiesThatLabelMapsAreNotMadeOfAreRefused) {
  AverageScene scene("average_files_refused");
  Checkpoint checkpoint = load_checkpoint(scene.path("a/checkpoints/last.safetensors"));
  checkpoint.state.prepare["convention"] = "nnunet", checkpoint.state.prepare["zscore_in_nonzero"] = false;
  save_checkpoint(scene.path("nnunet.safetensors"), checkpoint.state, checkpoint.parameters, {});
  PredictOptions o = scene.predict({"nnunet.safetensors"}, "out");
  o.task.of<VolumeReading>().probabilities = true;
  expect_error(ErrorKind::kUsage, "resampled by masks", [&] { run_predict(o, scene.progress); });
  EXPECT_FALSE(fs::exists(o.output));
}

TEST(AveragePredict, ARunWithItselfIsThatRun) {
  AverageScene scene("average_self");
  run_predict(scene.predict({"a"}, "alone"), scene.progress);
  const PredictReport report = run_predict(scene.predict({"a", "a"}, "twice"), scene.progress);
  EXPECT_EQ(scene.maps("twice"), scene.maps("alone"));
  EXPECT_TRUE(report.averaged.empty());
  fs::copy(scene.path("a"), scene.path("copy"), fs::copy_options::recursive);
  PredictOptions again = scene.predict({"copy", "a"}, "alone");
  EXPECT_EQ(run_predict(again, scene.progress).kept, 2) << "it is the same prediction";
}

TEST(AveragePredict, ProbabilitiesOfARunTwiceHaveItsLabels) {
  AverageScene scene("average_sum");
  const fs::path image = scene.data() / "imagesTr" / "phantom_000_0000.nii.gz";
  TrainedRun run = load_trained_run({.run = scene.path("a")});
  const PreparePlan plan = plan_from_json(run.preparation);
  const std::vector<Tensor> channels = {prepare_image(read_image(image), plan).image.voxels};
  const VolumeVoxels voxels = voxels_of(channels, air_values(plan));
  const std::int64_t multiple = run.spec.multiple();
  WorkerPool pool(2);
  const auto session = prediction_session(run, {}, pool);
  SpilledFloats sums, spilled;
  for (const std::int64_t times : {1, 2}) {
    add_probabilities(*session, voxels, multiple, times, sums);
    add_probabilities(*session, voxels, multiple, times, spilled, scene.path(""));
  }
  EXPECT_EQ(spilled.resident_bytes(2), SpilledFloats::window_bytes(2)) << "they lie in a file";
  const Tensor labels = predict_volume(*session, voxels, multiple);
  EXPECT_TRUE(compare(likeliest_labels(spilled).view(), labels.view()).bit_equal);
  SpilledFloats::Visit visit(sums), other(spilled);
  for (std::int64_t v = 0, classes = sums.shape()[3]; v < labels.count(); ++v) {
    const float* const all = visit.at(v * classes, classes);
    ASSERT_TRUE(std::equal(all, all + classes, other.at(v * classes, classes)));
    ASSERT_NEAR(std::accumulate(all, all + classes, 0.0), 3, 1e-5);
  }
}

TEST(AveragePredict, WhatF32CannotTellApartIsTheLikeliestClass) {
  std::vector<double> logits = {1, 1e-20, 1.0000000001, 1.0000000001};
  std::vector<float> p(4);
  to_probabilities(logits, p);
  EXPECT_GE(p[2], p[3]);
  EXPECT_EQ(p[2], std::nextafter(p[0], 2.0F));
  EXPECT_NEAR(p[0] + p[1] + p[2] + p[3], 1, 1e-6);
}

TEST(AveragePredict, TheOrderOfTheRunsChangesNoByte) {
  AverageScene scene("average_order");
  scene.train("c", 3, 2);
  run_predict(scene.predict({"a", "b", "c"}, "abc"), scene.progress);
  const PredictReport other = run_predict(scene.predict({"c", "a", "b"}, "cab"), {scene.progress, {.threads = 3}});
  EXPECT_EQ(scene.maps("abc"), scene.maps("cab"));
  EXPECT_EQ(Scene::bytes_of(scene.path("abc/averaged_runs.json")),
            Scene::bytes_of(scene.path("cab/averaged_runs.json")));
  ASSERT_EQ(other.averaged.size(), 3u);
  EXPECT_TRUE(std::ranges::is_sorted(other.averaged, {}, &AveragedRun::hash));
  run_predict(scene.predict({"b", "a", "c", "b"}, "more_b"), scene.progress);
  EXPECT_NE(scene.maps("more_b"), scene.maps("abc")) << "a run that is given twice counts twice";
  EXPECT_EQ(run_predict(scene.predict({"b", "c", "a"}, "abc"), scene.progress).kept, 2);
}

TEST(AveragePredict, RanksAndCutsPredictTheSame) {
  AverageScene scene("average_ranks");
  PredictOptions o = scene.predict({"a", "b"}, "alone");
  run_predict(o, scene.progress);
  o.partition = Dims{1, 2, 2, 1, 1}, o.output = scene.path("cut");
  run_predict(o, scene.progress);
  EXPECT_EQ(scene.maps("cut"), scene.maps("alone"));
  for (const int ranks : {2, 3}) {
    o.output = scene.path("over" + std::to_string(ranks));
    test::Mailbox mailbox(ranks);
    test::run_valid_ranks(mailbox, [&](Transport& transport) {
      NoProgress quiet;
      const PredictReport one = run_predict(o, {quiet, {.transport = &transport}});
      if (transport.rank() == 0) {
        EXPECT_EQ(one.averaged.size(), 2u);
        for (const auto& rank : one.ranks) EXPECT_GT(rank.at("memory").at("planned").at("arenas"), 0) << rank;
      }
    });
    EXPECT_EQ(scene.maps("over" + std::to_string(ranks)), scene.maps("alone")) << ranks;
  }
}

TEST(AveragePredict, TheOutputSaysWhichRunsMadeIt) {
  AverageScene scene("average_said");
  const PredictOptions both = scene.predict({"a", "b"}, "out");
  const PredictReport report = run_predict(both, scene.progress);
  const auto json = to_json(report);
  ASSERT_EQ(json.at("averaged").size(), 2u);
  EXPECT_EQ(json.at("averaged").at(0).at("checkpoint"), json.at("checkpoint"));
  EXPECT_EQ(json.at("averaged"),
            nlohmann::ordered_json(read_json(scene.path("out/averaged_runs.json"))).at("averaged"));
  EXPECT_EQ(run_predict(both, scene.progress).kept, 2);
  PredictOptions more = scene.predict({"a", "b", "a"}, "out");
  EXPECT_EQ(run_predict(more, scene.progress).kept, 0) << "another set of runs";
  EXPECT_EQ(run_predict(scene.predict({"a"}, "out"), scene.progress).kept, 0);
  EXPECT_FALSE(fs::exists(scene.path("out/averaged_runs.json"))) << "a run alone";
  run_predict(both, scene.progress);
  fs::remove_all(scene.path("b"));
  scene.train("b", 3, 2);
  EXPECT_EQ(run_predict(both, scene.progress).kept, 0) << "the checkpoint of a run changed";
}

TEST(AveragePredict, ItIsOfAllThatAnyRunWasTrainedOn) {
  AverageScene scene("average_seen");
  const auto train_on = [&](const std::string& run, const std::string& fold) {
    TrainOptions o = scene.options(run);
    o.steps = 1, volumes(o).fold = fold;
    run_train(o, scene.progress);
  };
  train_on("first", "0"), train_on("second", "1");
  const auto seen = [&](const std::vector<std::string>& runs) {
    return run_predict(scene.predict(runs, "seen_by_" + std::to_string(runs.size()) + runs.front()), scene.progress)
        .seen;
  };
  EXPECT_EQ(seen({"first"}).trained_on.size(), 1u);
  EXPECT_EQ(seen({"second"}).trained_on.size(), 1u);
  EXPECT_EQ(seen({"first", "second"}).trained_on.size(), 2u);
  PredictOptions held_out = scene.predict({"first", "second"}, "held_out");
  held_out.held_out = true;
  expect_error(ErrorKind::kNoCase, "trained on all", [&] { run_predict(held_out, scene.progress); });
}

TEST(AveragePredict, AnInputThatCannotBeReadCostsItself) {
  AverageScene scene("average_broken");
  std::ofstream(scene.data() / "imagesTr" / "a_torn_0000.nii.gz") << "no volume";
  const PredictReport report = run_predict(scene.predict({"a", "b"}, "out"), scene.progress);
  EXPECT_EQ(report.cases.size(), 2u);
  ASSERT_EQ(report.failures.size(), 1u);
  EXPECT_EQ(report.failures[0].code, "E_READ");
}

TEST(AveragePredict, SumsThatDoNotFitAreRefused) {
  AverageScene scene("average_budget");
  PredictOptions alone = scene.predict({"a"}, "alone"), both = scene.predict({"a", "b"}, "both");
  alone.dry_run = both.dry_run = true;
  const auto most = [&](const PredictOptions& o) {
    std::int64_t bytes = 0;
    for (const PlannedInput& one : run_predict(o, scene.progress).planned) bytes = std::max(bytes, one.bytes);
    return bytes;
  };
  // What is resident already is in both plans; a sanitizer gives memory of before back at any time.
  if (!test::kShadowed) {
    EXPECT_GT(most(both), most(alone));
  }
  both.dry_run = false;
  expect_error(ErrorKind::kBudget, "nothing was allocated", [&] {
    run_predict(both, {scene.progress, {.core_budget_bytes = 1 << 20}});
  });
  EXPECT_FALSE(fs::exists(both.output));
}

TEST(AveragePredict, RunsThatDoNotAgreeAreRefused) {
  AverageScene scene("average_refused");
  const PredictOptions o = scene.predict({"a", "b"}, "out");
  const auto refused = [&](const char* text, const std::function<void(Checkpoint&)>& change) {
    Checkpoint checkpoint = load_checkpoint(scene.path("b/checkpoints/last.safetensors"));
    change(checkpoint);
    save_checkpoint(scene.path("other.safetensors"), checkpoint.state, checkpoint.parameters, {});
    PredictOptions other = o;
    other.further_runs = {scene.path("other.safetensors")};
    expect_error(ErrorKind::kUsage, text, [&] { run_predict(other, scene.progress); });
    EXPECT_FALSE(fs::exists(o.output)) << text;
  };
  refused("agree in their classes", [](Checkpoint& c) { c.state.prepare["class_names"].back() = "another"; });
  refused("agree in their channels", [](Checkpoint& c) { c.state.prepare["channels"] = {"MR"}; });
  refused("agree in their spacing", [](Checkpoint& c) { c.state.prepare["spacing_mm"] = {7.5, 8.0, 8.0}; });
  refused("agree in their orientation", [](Checkpoint& c) { c.state.prepare["orientation"] = "RAS"; });
  PredictOptions no_input = o;
  no_input.input = scene.path("b");
  expect_error(ErrorKind::kUsage, "the last path is what is predicted", [&] { run_predict(no_input, scene.progress); });
  PredictOptions no_run = o;
  no_run.further_runs = {scene.data()};
  expect_error(ErrorKind::kUsage, "is no run", [&] { run_predict(no_run, scene.progress); });
}

TEST(AveragePredict, ATaskThatAveragesNothingRefusesSeveralRuns) {
  ImagesScene scene("average_boxes");
  for (const std::string run : {"a", "b"}) {
    TrainOptions t = scene.options(run);
    t.steps = run == "a" ? 1 : 2, detection_options(t).held_out.validate = false;
    run_train(t, scene.progress);
  }
  PredictOptions o{.run = scene.path("a"), .input = scene.data() / "images", .output = scene.path("found.json")};
  o.further_runs = {scene.path("b")};
  expect_error(ErrorKind::kUsage, "predict with each run by itself", [&] { run_predict(o, scene.progress); });
  AverageScene volumes("average_tasks");
  o.further_runs = {volumes.path("a")};
  expect_error(ErrorKind::kUsage, "agree in their task", [&] { run_predict(o, scene.progress); });
}

}  // namespace
}  // namespace voxshard
