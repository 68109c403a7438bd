// A task that only tests define: which half of a small grey image is bright? Images are lines of a text file, "L" or
// "R" each, and a seed gives their noise. It is passed to the commands in a table; no folder but tests/ knows of it.
//
//   TaskTable tasks = {std::make_shared<ToyTask>()};
//   run_train(options, progress, tasks);
#pragma once

#include <fstream>
#include <numeric>

#include "io/output/output_folder.h"
#include "libcore/base/rng.h"
#include "pipelines/engine/core_values.h"
#include "pipelines/engine/prediction.h"
#include "pipelines/tasks/table/task_table.h"

namespace voxshard::test {

inline constexpr std::int64_t kToySide = 8;

struct ToyOptions {
  double noise = 0.25;
};

/// Returns the letters of a file, one for each image: "LRRL".
inline std::string read_toy(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string letters;
  if (!(in >> letters)) throw Error(ErrorKind::kInput, "[toy] " + file.string() + " holds no pictures");
  return letters;
}

/// True when the pixel is in the bright half.
inline bool toy_label(char letter, std::int64_t x) { return (letter == 'L') == (x < kToySide / 2); }

class ToySamples : public TrainingTask {
 public:
  ToySamples(const TrainingData& data, const ToyOptions& options)
      : letters_(read_toy(data.data)), seed_(data.seed), o_(options) {}

  const char* metric() const override { return "hits"; }
  void complete(ModelSpec& spec) const override {
    spec.set("channels", std::int64_t{1}), spec.set("classes", std::int64_t{2});
  }
  std::int64_t training_cases() const override { return static_cast<std::int64_t>(letters_.size()); }
  std::int64_t validation_cases() const override { return training_cases(); }
  nlohmann::ordered_json preparation() const override { return {{"side", kToySide}}; }
  nlohmann::ordered_json sampling() const override { return {{"seed", seed_}, {"noise", o_.noise}}; }
  CaseHashes content(bool, WorkerPool&, Progress&) const override {
    return {.cases = {{"letters", letters_}}, .trained = {}};
  }
  void describe(const std::filesystem::path& run) override { std::ofstream(run / "toy.txt") << letters_; }
  Shape largest_extents(std::int64_t batch) const override { return {batch, kToySide, kToySide}; }
  std::vector<Shape> validation_extents(const ModelSpec&) const override { return {{1, kToySide, kToySide}}; }

  Shape load(std::int64_t step, std::int64_t batch, WorkerPool&) override {
    first_ = step * batch;
    return largest_extents(batch);
  }
  void fill(const InputInfo& input, const TensorView& box) const override {
    for (std::int64_t n = box.box.begin[0]; n < box.box.end(0); ++n) {
      Box one = box.box;
      one.set(0, n, n + 1);
      const auto sample = static_cast<std::uint64_t>(first_ + n);
      fill_one(letters_[sample % letters_.size()], std::holds_alternative<input::Image>(input),
               {seed_ + sample, rng_stream("toy")}, box.sub(one));
    }
  }
  std::unique_ptr<ValidationPass> validation(const ModelSpec&) const override {
    return std::make_unique<ToyValidation>(letters_, o_, seed_);
  }

  /// Work whose result of each core is by how much the logits call its part of the left half brighter than that of the
  /// right.
  static CoreWork work() {
    return {.serialise = values_of_cores<double>([](const nlohmann::json&, const CoreSet& cores, std::size_t core) {
              const TensorView part = cores.owned(cores.executable().program.graph.outputs.at("logits"), core);
              double left = 0;
              for (std::int64_t y = 0; y < part.extent()[1]; ++y)
                for (std::int64_t x = 0; x < part.extent()[2]; ++x) {
                  const std::int64_t at = y * part.strides[1] + x * part.strides[2];
                  const double bright = voxshard::load(part, at + 1) - voxshard::load(part, at);
                  left += part.box.begin[2] + x < kToySide / 2 ? bright : -bright;
                }
              return std::vector<double>{left};
            })};
  }

  /// Returns the half that the logits call brighter, "L" or "R".
  static char predict_one(Session& session, char letter, const ToyOptions& o, std::uint64_t seed) {
    const ToySamples toy(o);
    const Shape extents{1, kToySide, kToySide};
    std::vector<double> left(static_cast<std::size_t>(session.plan(extents, Phase::kPredict).program.mesh().cores()));
    run_cores(session, work(),
              {.extents = extents,
               .fill =
                   [&](const TensorView& box) {
                     toy.fill_one(letter, true, {seed, rng_stream("toy")}, box);
                   },
               .take = take_values<double>(
                   [&](std::size_t core, std::span<const double> found) { left[core] = found.front(); })});
    return std::accumulate(left.begin(), left.end(), 0.0) > 0 ? 'L' : 'R';
  }

  class ToyValidation : public ValidationPass {
   public:
    ToyValidation(std::string letters, const ToyOptions& options, std::uint64_t seed)
        : letters_(std::move(letters)), o_(options), seed_(seed) {}
    CoreWork work() const override { return ToySamples::work(); }
    std::vector<PredictionTurn> turns() const override {
      std::vector<PredictionTurn> turns;
      for (std::size_t i = 0; i < letters_.size(); ++i) turns.push_back({{1, kToySide, kToySide}, {i}});
      return turns;
    }
    std::string name(std::size_t input) const override { return std::to_string(input); }
    std::vector<CaseFailure> validate(Session& session, const PredictionTurn& turn) override {
      const std::size_t i = turn.inputs.front();
      hits_ += predict_one(session, letters_[i], o_, seed_ + i) == letters_[i];
      return {};
    }
    Validation result() const override {
      return {.score = static_cast<double>(hits_) / static_cast<double>(letters_.size()), .by_class = {}};
    }
    std::string nothing_read() const override { return "letters that validate can be read"; }

   private:
    std::string letters_;
    ToyOptions o_;
    std::uint64_t seed_;
    std::int64_t hits_ = 0;
  };

 private:
  explicit ToySamples(const ToyOptions& options) : o_(options) {}

  void fill_one(char letter, bool image, const RngKey& key, const TensorView& box) const {
    for (std::int64_t y = 0; y < box.extent()[1]; ++y)
      for (std::int64_t x = 0; x < box.extent()[2]; ++x) {
        const std::int64_t row = box.box.begin[1] + y, column = box.box.begin[2] + x;
        const double bright = toy_label(letter, column) ? 1 : 0;
        const double noise = o_.noise * rng_normal(key, static_cast<std::uint64_t>(row * kToySide + column));
        store(box, y * box.strides[1] + x * box.strides[2], image ? 2 * bright - 1 + noise : bright);
      }
  }

  std::string letters_;
  std::uint64_t seed_ = 0;
  ToyOptions o_;
  std::int64_t first_ = 0;
};

/// Predicts each letter of a file by itself; a letter other than L and R is damage.
class ToyPrediction : public Prediction {
 public:
  explicit ToyPrediction(PredictionBatch& batch)
      : b_(batch), letters_(read_toy(batch.options.input)), found_(letters_.size(), '?') {}

  PredictionWords words() const override { return {.inputs = "letters", .one = "letter "}; }
  std::vector<std::string> names() const override {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < letters_.size(); ++i) names.push_back(std::to_string(i));
    return names;
  }
  std::vector<PredictionTurn> turns() const override {
    std::vector<PredictionTurn> turns;
    for (std::size_t i = 0; i < letters_.size(); ++i) turns.push_back({{1, kToySide, kToySide}, {i}});
    return turns;
  }
  void predict(const PredictionTurn& turn) override {
    const std::size_t i = turn.inputs.front();
    if (letters_[i] != 'L' && letters_[i] != 'R')
      throw Error(ErrorKind::kInput, "E_READ", std::string("[toy] ") + letters_[i] + " is no picture; write L or R");
    found_[i] = ToySamples::predict_one(b_.session(), letters_[i], {}, 100 + i);
    b_.done(i, b_.options.output, 0);
  }
  void finish() override {
    std::ofstream(b_.options.output) << found_;
    b_.report.found = {{"pictures", b_.report.cases.size()}};
  }

 private:
  PredictionBatch& b_;
  std::string letters_, found_;
};

class ToyTask : public Task {
 public:
  const char* name() const override { return "halves"; }
  TaskWords words() const override {
    return {.training_data = "of halves a text of letters", .predicted = "found.txt"};
  }
  bool learns(const ModelSpec& spec) const override {
    return spec.model->data == kVoxelLabels && spec.spatial_axes() == 2;
  }
  std::vector<Setting> settings(TaskCommand command, TaskOptions& options) const override {
    if (command != TaskCommand::kTrain) return {};
    return {{"noise", "Standard deviation of the noise", "Toys", &options.of<ToyOptions>().noise, {{0, 1}}}};
  }

  DemoReport demo(const DemoOptions& options, int, Progress&) const override {
    make_output_folder(options.folder);
    const int cases = options.cases.value_or(6);
    std::ofstream out(options.folder / "toy.txt");
    for (int i = 0; i < cases; ++i) out << (i % 3 == 0 ? 'L' : 'R');
    return {.cases = cases, .points = cases * kToySide * kToySide, .point = "pixels", .next = {"train"}};
  }
  bool info(const std::filesystem::path& path, const InfoOptions&, InfoReport& report) const override {
    if (path.extension() != ".txt") return false;
    report.set("toys").json.push_back({{"pictures", read_toy(path).size()}});
    return true;
  }
  std::unique_ptr<TrainingTask> training(const TrainingData& data, const TaskOptions& options,
                                         const ModelSpec&) const override {
    return std::make_unique<ToySamples>(data, options.of<ToyOptions>());
  }
  PredictReport predict(const PredictOptions& options, TrainedRun run, const RunContext& context) const override {
    return run_prediction(options, std::move(run), ToySamples::work(), context,
                          [](PredictionBatch& batch) { return std::make_unique<ToyPrediction>(batch); });
  }
  bool predicted(const std::filesystem::path& predictions) const override { return predictions.extension() == ".txt"; }
  TaskReport evaluate(const EvaluateOptions& options, const RunContext&) const override {
    const std::string found = read_toy(options.predictions), truth = read_toy(options.references);
    int hits = 0;
    for (std::size_t i = 0; i < std::min(found.size(), truth.size()); ++i) hits += found[i] == truth[i];
    return {.json = {{"hits", hits}}, .text = std::to_string(hits) + " hits\n"};
  }
  RecordFormat records() const override { return {.image_bytes = 1, .unpacked_image_bytes = 0}; }
};

}  // namespace voxshard::test
