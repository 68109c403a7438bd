#include "pipelines/tasks/detection/golden_image.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "io/files/config_file.h"
#include "io/image/image.h"
#include "libcore/base/error.h"
#include "libcore/metrics/average_precision_match.h"
#include "pipelines/phantoms/sized_phantoms.h"

namespace voxshard {
namespace {

constexpr std::int64_t kGoldenHeight = 192, kGoldenWidth = 256;
constexpr double kPartnerIou = 0.5, kPartnerScore = 0.1;

/// Returns the boxes of a list of COCO results, with the ids of their classes.
std::vector<ScoredBox> golden_boxes(const std::filesystem::path& file) {
  std::vector<ScoredBox> boxes;
  try {
    for (const nlohmann::json& one : read_json(file)) {
      const auto box = one.at("bbox").get<std::array<double, 4>>();
      boxes.push_back({.category = one.at("category_id").get<std::int64_t>(),
                       .box = {box[0], box[1], box[2], box[3]},
                       .score = one.at("score").get<double>()});
    }
  } catch (const nlohmann::json::exception& e) {
    throw Error(ErrorKind::kInput, "[attest] " + file.string() + " is no list of COCO results: " + e.what() +
                                       "; make the golden case again");
  }
  return boxes;
}

/// Counts the boxes of `a` from that score on, and those of them that have no partner in `b`.
void count_alone(const std::vector<ScoredBox>& a, const std::vector<ScoredBox>& b, double from,
                 AnswerDifference& apart) {
  for (const ScoredBox& one : a) {
    if (one.score < from) continue;
    ++apart.compared;
    apart.differing += std::ranges::none_of(b, [&](const ScoredBox& other) {
      return other.category == one.category && std::abs(other.score - one.score) <= kPartnerScore &&
             coco_iou(one.box, other.box, false) >= kPartnerIou;
    });
  }
}

}  // namespace

void write_golden_image(const std::filesystem::path& folder) {
  write_rgb(folder / "golden.png", picture_of_size(kGoldenHeight, kGoldenWidth));
}

AnswerDifference detections_difference(const std::filesystem::path& reference, const std::filesystem::path& found) {
  const std::vector<ScoredBox> a = golden_boxes(reference), b = golden_boxes(found);
  double best = 0;
  for (const ScoredBox& one : a) best = std::max(best, one.score);
  AnswerDifference apart{.unit = "boxes"};
  count_alone(a, b, best / 2, apart), count_alone(b, a, best / 2, apart);
  apart.allowed = apart.compared / 20;
  return apart;
}

}  // namespace voxshard
