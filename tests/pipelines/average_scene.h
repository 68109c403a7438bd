// Two runs of different networks on one tiny data set, for the tests of their average; probabilities of a run by the
// formula alone, and those of a .npz file.
//
//   AverageScene scene("average");
//   run_predict(scene.predict({"a", "b"}, "both"), scene.progress);
#pragma once

#include <cmath>

#include "io/archive/archive_reader.h"
#include "pipelines/commands/run_predict.h"
#include "pipelines/tasks/segmentation/dataset/prepare_image.h"
#include "pipelines/tasks/segmentation/samples/sample_source.h"
#include "pipelines/tasks/segmentation/scores/predict_volume.h"
#include "tests/pipelines/training_scene.h"

namespace voxshard {

/// Two runs of different networks on the same data.
struct AverageScene : TrainingScene {
  explicit AverageScene(const std::string& name) : TrainingScene(name) { train("a", 4, 3), train("b", 2, 2); }
  void train(const std::string& run, int filters, int depth) {
    TrainOptions o = options(run);
    o.steps = 8, o.optimizer.learning_rate = 5e-3, o.spec.as<UNetConfig>() = {.base_filters = filters, .depth = depth};
    run_train(o, progress);
  }
  PredictOptions predict(const std::vector<std::string>& runs, const std::string& output) const {
    PredictOptions o{.run = path(runs.front()), .input = data() / "imagesTr", .output = path(output)};
    for (std::size_t i = 1; i < runs.size(); ++i) o.further_runs.push_back(path(runs[i]));
    return o;
  }
  /// Returns the bytes of all label maps of a folder, by name.
  std::map<std::string, std::string> maps(const std::string& folder) const {
    std::map<std::string, std::string> all;
    for (const auto& entry : std::filesystem::directory_iterator(path(folder)))
      if (entry.path().extension() == ".gz") all[entry.path().filename().string()] = bytes_of(entry.path());
    return all;
  }
};

/// Probabilities of a run on its prepared grid, by the formula of the softmax alone.
struct RunProbabilities {
  PreparePlan plan;
  PreparedImage prepared;
  Tensor of_voxels;  // (D, H, W, C) f32, each rounded from f64
};

inline RunProbabilities probabilities_of(const std::filesystem::path& run_folder, const std::filesystem::path& image) {
  TrainedRun run = load_trained_run({.run = run_folder});
  RunProbabilities found{.plan = plan_from_json(run.preparation), .prepared = {}, .of_voxels = {}};
  found.prepared = prepare_image(read_image(image), found.plan);
  const std::vector<Tensor> channels = {found.prepared.image.voxels};
  const std::int64_t multiple = run.spec.multiple();
  WorkerPool pool(1);
  const auto session = prediction_session(run, {}, pool);
  CoreSet& cores = session->cores(prediction_extents(channels[0].shape(), multiple), Phase::kPredict);
  const Graph& graph = cores.executable().program.graph;
  const VolumeVoxels voxels = voxels_of(channels, air_values(found.plan));
  cores.feed(graph.find("image"), [&](const TensorView& box) { fill_image(box, voxels); });
  cores.run();
  const Tensor logits = cores.gather(graph.outputs.at("logits"));
  const Shape& shape = channels[0].shape();
  const std::int64_t classes = logits.shape().back();
  found.of_voxels = Tensor(DType::kF32, {shape[0], shape[1], shape[2], classes});
  auto* to = found.of_voxels.as<float>();
  for (std::int64_t d = 0; d < shape[0]; ++d)
    for (std::int64_t h = 0; h < shape[1]; ++h)
      for (std::int64_t w = 0; w < shape[2]; ++w) {
        const auto* from =
            logits.as<float>() + ((d * logits.shape()[2] + h) * logits.shape()[3] + w) * classes;  // batch of 1
        double sum = 0;
        for (std::int64_t c = 0; c < classes; ++c) sum += std::exp(static_cast<double>(from[c]));
        for (std::int64_t c = 0; c < classes; ++c)
          *to++ = static_cast<float>(std::exp(static_cast<double>(from[c])) / sum);
      }
  return found;
}

/// Returns the elements of the array in a .npz file of f16 numbers, and its shape as its header says it.
inline std::pair<std::vector<double>, std::string> halves_of(const std::filesystem::path& path) {
  ArchiveReader in(path);
  EXPECT_TRUE(in.next());
  EXPECT_EQ(in.name(), "probabilities.npy");
  std::string bytes(static_cast<std::size_t>(1) << 26, ' ');
  bytes.resize(in.read(bytes.data(), std::ssize(bytes)));
  const std::size_t begin = bytes.find('\n') + 1, shape = bytes.find("'shape': ");
  std::vector<double> values;
  for (std::size_t at = begin; at + 1 < bytes.size(); at += 2) {
    const unsigned half = static_cast<unsigned char>(bytes[at]) + 256U * static_cast<unsigned char>(bytes[at + 1]);
    const int exponent = static_cast<int>(half >> 10), mantissa = static_cast<int>(half & 1023U);  // no signs
    values.push_back(exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25));
  }
  return {values, bytes.substr(shape + 9, bytes.find(')', shape) - shape - 8)};
}

}  // namespace voxshard
