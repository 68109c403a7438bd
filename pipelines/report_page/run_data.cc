#include "pipelines/report_page/run_data.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>

#include "io/files/csv.h"
#include "io/files/file_error.h"
#include "io/files/file_name.h"
#include "pipelines/model_runs/checkpoint.h"
#include "pipelines/model_runs/report.h"
#include "pipelines/report_page/page_facts.h"
#include "pipelines/report_page/validation_detail.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using Row = std::vector<std::string>;

/// Bounds of what a page can hold, far above what a data set has.
constexpr std::size_t kMostClasses = 1024, kMostCases = 2000;

double number_of(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? value : std::numeric_limits<double>::quiet_NaN();
}

std::int64_t step_of(const std::string& text) {
  std::int64_t step = 0;
  std::from_chars(text.data(), text.data() + text.size(), step);
  return step;
}

void read_steps(const fs::path& file, RunData& run) {
  StepData last;
  read_csv(file, [&](const Row& row) {
    if (row.size() < 5) return;
    last = {step_of(row[0]), number_of(row[1]), number_of(row[2]), number_of(row[3]), number_of(row[4])};
    if (std::isfinite(last.seconds)) run.step_seconds += last.seconds;
    if (run.rows++ % run.every != 0) return;
    run.steps.push_back(last);
    if (run.steps.size() <= kMostPoints) return;
    std::vector<StepData> kept;  // every second one, so that the rows kept are the multiples of the new stride
    for (std::size_t i = 0; i < run.steps.size(); i += 2) kept.push_back(run.steps[i]);
    run.steps = std::move(kept), run.every *= 2;
  });
  if (!run.steps.empty() && run.steps.back().step != last.step) run.steps.push_back(last);
}

/// Takes the rows of validations.csv and closes a validation when the next one begins.
class Validations {
 public:
  explicit Validations(RunData& run) : run_(run) {}

  void row(const Row& row) {
    if (row.size() != 5) return;
    const double score = number_of(row[4]);
    const bool overall = row[2].empty() && row[3].empty();
    if (overall) {
      close();
      open_ = ValidationData{.step = step_of(row[0]), .weights = row[1], .score = score, .by_class = {}, .cases = {}};
      return;
    }
    if (!open_ || row[3].empty()) return;
    const std::size_t c = index_of(row[3]);
    if (c >= kMostClasses) return;
    if (row[2].empty()) return set(open_->by_class, c, score);
    if (open_->cases.empty() || open_->cases.back().name != row[2]) {
      if (open_->cases.size() >= kMostCases) return;
      open_->cases.push_back({row[2], {}});
    }
    set(open_->cases.back().by_class, c, score);
  }

  void close() {
    if (!open_) return;
    auto& all = run_.validations;
    all.push_back(std::move(*open_));
    open_.reset();
    const std::ptrdiff_t at = std::ssize(all) - 1;
    const auto score = [&](std::ptrdiff_t i) { return all[i].score; };
    const std::ptrdiff_t last_before = last_at_, averaged_before = averaged_at_, best_before = run_.best_at;
    if (run_.best_at < 0 || (run_.higher_is_better ? score(at) > score(run_.best_at) : score(at) < score(run_.best_at)))
      run_.best_at = at;
    const bool is_averaged = all.back().weights == kAveragedWeights;
    averaged_at_ = is_averaged ? at : -1;
    if (!is_averaged) last_at_ = at;
    for (const std::ptrdiff_t old : {last_before, averaged_before, best_before, at})
      if (old >= 0 && old != run_.best_at && old != last_at_ && old != averaged_at_) all[old].cases.clear();
    if (all.size() > 2 * kMostValidations) thin();
  }

  /// Drops every second validation step but for the best and the last.
  void thin() {
    std::vector<ValidationData> kept;
    std::ptrdiff_t best = -1, last = -1, averaged = -1;
    bool keeps = false;
    for (std::ptrdiff_t i = 0; i < std::ssize(run_.validations); ++i) {
      ValidationData& one = run_.validations[i];
      if (one.weights != kAveragedWeights || i == 0) keeps = !keeps;
      if (!keeps && i != run_.best_at && i != last_at_ && i != averaged_at_) continue;
      if (i == run_.best_at) best = std::ssize(kept);
      if (i == last_at_) last = std::ssize(kept);
      if (i == averaged_at_) averaged = std::ssize(kept);
      kept.push_back(std::move(one));
    }
    run_.validations = std::move(kept), run_.best_at = best, last_at_ = last, averaged_at_ = averaged;
  }

 private:
  std::size_t index_of(const std::string& name) {
    const auto [it, is_new] = classes_.try_emplace(name, classes_.size());
    if (is_new && it->second < kMostClasses) run_.classes.push_back(name);
    return it->second;
  }
  static void set(std::vector<double>& scores, std::size_t c, double score) {
    if (scores.size() <= c) scores.resize(c + 1, std::numeric_limits<double>::quiet_NaN());
    scores[c] = score;
  }

  RunData& run_;
  std::optional<ValidationData> open_;
  std::ptrdiff_t last_at_ = -1, averaged_at_ = -1;  // of the last step
  std::map<std::string, std::size_t> classes_;
};

Json numbers(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(json_number(value));
  return list;
}

Json to_json(const ValidationData& one) {
  Json json = {{"step", one.step},
               {"weights", one.weights},
               {"score", json_number(one.score)},
               {"by_class", numbers(one.by_class)}};
  if (one.cases.empty()) return json;
  json["cases"] = Json::array();
  for (const CaseData& item : one.cases)
    json["cases"].push_back({{"case", item.name}, {"by_class", numbers(item.by_class)}});
  return json;
}

}  // namespace

double CaseData::mean() const {
  double sum = 0;
  int counted = 0;
  for (const double score : by_class)
    if (std::isfinite(score)) sum += score, ++counted;
  return counted > 0 ? sum / counted : std::numeric_limits<double>::quiet_NaN();
}

const ValidationData* RunData::last() const {
  const auto it = std::find_if(validations.rbegin(), validations.rend(),
                               [](const ValidationData& one) { return one.weights != kAveragedWeights; });
  return it == validations.rend() ? nullptr : &*it;
}

const ValidationData* RunData::better_of_last() const {
  const ValidationData* of_last = last();
  if (of_last == nullptr) return nullptr;
  const ValidationData& newest = validations.back();
  const bool worse = higher_is_better ? newest.score < of_last->score : newest.score > of_last->score;
  return newest.step == of_last->step && !worse ? &newest : of_last;
}

RunData read_run_data(const fs::path& folder) {
  RunData run;
  run.facts = page_facts(folder);
  const fs::path whole = fs::absolute(folder).lexically_normal();
  run.name = shown_name((whole.has_filename() ? whole : whole.parent_path()).filename().string());
  if (const auto metric = run.facts.find("metric"); metric != run.facts.end() && metric->is_object()) {
    if (metric->contains("name") && metric->at("name").is_string()) run.metric = metric->at("name");
    if (metric->contains("higher_is_better") && metric->at("higher_is_better").is_boolean())
      run.higher_is_better = metric->at("higher_is_better");
  }
  std::error_code unseen;
  if (fs::exists(folder / "results.csv", unseen)) read_steps(folder / "results.csv", run);
  if (fs::exists(folder / "validations.csv", unseen)) {
    Validations validations(run);
    read_csv(folder / "validations.csv", [&](const Row& row) { validations.row(row); });
    validations.close();
  }
  for (ValidationData& one : run.validations) {
    one.by_class.resize(run.classes.size(), std::numeric_limits<double>::quiet_NaN());
    for (CaseData& item : one.cases) item.by_class.resize(run.classes.size(), std::numeric_limits<double>::quiet_NaN());
  }
  run.last_detail = read_detail(folder / kLastDetailFile, run.last());
  run.best_detail = read_detail(folder / kBestDetailFile, run.best());
  return run;
}

Json to_json(const RunData& run) {
  Json steps = {{"every", run.every}, {"rows", run.rows}, {"seconds_of_all", run.step_seconds}};
  for (const char* name : {"step", "loss", "gradient_norm", "learning_rate", "seconds"}) steps[name] = Json::array();
  for (const StepData& one : run.steps) {
    steps["step"].push_back(one.step);
    steps["loss"].push_back(json_number(one.loss));
    steps["gradient_norm"].push_back(json_number(one.gradient_norm));
    steps["learning_rate"].push_back(json_number(one.learning_rate));
    steps["seconds"].push_back(json_number(one.seconds));
  }
  Json validations = Json::array();
  for (const ValidationData& one : run.validations) validations.push_back(to_json(one));
  Json last_detail = run.last_detail;
  if (last_detail.contains("images"))
    for (Json& image : last_detail["images"]) image.erase("jpeg");
  return {{"name", run.name},
          {"metric", run.metric},
          {"higher_is_better", run.higher_is_better},
          {"classes", run.classes},
          {"steps", steps},
          {"validations", validations},
          {"best", run.best_at},
          {"facts", run.facts},
          {"slices", run.slices},
          {"last_detail", last_detail},
          {"best_detail", run.best_detail}};
}

}  // namespace voxshard
