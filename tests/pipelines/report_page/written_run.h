// A run folder that a test writes itself, row by row, for the page of a run: what the page says is held against these
// rows.
//
//   WrittenRun run("report");
//   run.steps(3);
//   run.validation(3, {{"liver", {{"case_1", 0.5}, {"case_2", 0}}}});
//   RunData data = read_run_data(run.path());
#pragma once

#include <map>
#include <nlohmann/json.hpp>

#include "libcore/base/file_format.h"
#include "libcore/base/text.h"
#include "tests/scratch_folder.h"

namespace voxshard {

class WrittenRun {
 public:
  explicit WrittenRun(const std::string& name, const std::string& metric = "dice")
      : folder_(name), metric_(metric), validations_("step,weights,case,class," + metric + "\n") {
    record = {{"format", kFileFormat},
              {"command", "train"},
              {"version", "0.1.0"},
              {"options", {{"", {"/home/someone/secret"}}, {"norm", {"instance"}}, {"from", {"other/run"}}}},
              {"layers", {{"norm", "recipe"}}},
              {"recipe", {{{"option", "norm"}, {"value", "instance"}, {"reason", "one sample a step"}}}},
              {"model", {{"model", "unet3d"}, {"partition", "1x2x2x1x1"}, {"replicas", 1}, {"norm", "instance"}}},
              {"training", {{"cases", {"Doe^Jane", "b"}}, {"steps", 100}, {"batch", 1}, {"crop", "8x9x10"}}},
              {"metric", {{"name", metric}, {"higher_is_better", true}}},
              {"saved_checkpoints", true}};
  }

  std::filesystem::path path() const { return folder_.path() / "run"; }

  /// Rows of losses 1 / step.
  void steps(int count) {
    for (int step = 1; step <= count; ++step)
      steps_ += std::to_string(step) + "," + number_text(1.0 / step) + ",2.5,0.01,0.5,nan\n";
  }
  /// A validation with the scores of each class by case; the class's score is their mean, the score that of the
  /// classes.
  void validation(int step, const std::map<std::string, std::map<std::string, double>>& scores,
                  const std::string& weights = "last") {
    const std::string begin = std::to_string(step) + "," + weights + ",";
    std::string rows;
    double sum = 0;
    for (const auto& [name, by_case] : scores) {
      double of_class = 0;
      for (const auto& [item, score] : by_case) of_class += score / static_cast<double>(by_case.size());
      sum += of_class;
      rows += begin + "," + csv(name) + "," + number_text(of_class) + "\n";
    }
    validations_ += begin + ",," + number_text(sum / static_cast<double>(scores.size())) + "\n" + rows;
    for (const auto& [name, by_case] : scores)
      for (const auto& [item, score] : by_case)
        cases_[item] += begin + csv(item) + "," + csv(name) + "," + number_text(score) + "\n";
    for (const auto& [item, text] : cases_) validations_ += text;
    cases_.clear();
  }
  /// Writes the files; `torn`: an unfinished row at the end of both tables.
  void write(const std::string& torn = "") {
    std::filesystem::create_directories(path());
    folder_.write("run/run.json", record.dump());
    folder_.write("run/results.csv", steps_ + torn);
    folder_.write("run/validations.csv", validations_ + torn);
  }

  nlohmann::ordered_json record;

 private:
  static std::string csv(const std::string& text) { return "\"" + text + "\""; }

  ScratchFolder folder_;
  std::string metric_, steps_ = "step,loss,gradient_norm,learning_rate,seconds,validation\n", validations_;
  std::map<std::string, std::string> cases_;
};

}  // namespace voxshard
