#include <cmath>
#include <nlohmann/json.hpp>

#include "pipelines/training/run_train.h"

namespace voxshard {

nlohmann::ordered_json TrainReport::to_json() const {
  using Json = nlohmann::ordered_json;
  Json by_class = Json::array();
  if (validation)
    for (double score : validation->by_class) by_class.push_back(std::isfinite(score) ? Json(score) : Json(nullptr));
  Json json = {{"steps", steps},
               {"parameters", parameters},
               {"loss", loss},
               {"train_cases", train_cases},
               {"validation_cases", validation_cases},
               {"left_out", left_out},
               {"validation_" + metric, by_class},
               {"mean_" + metric, validation ? Json(validation->score) : Json(nullptr)},
               {"best_" + metric, best_score >= 0 ? Json(best_score) : Json(nullptr)},
               {"loops", loops},
               {"feed", voxshard::to_json(feed)},
               {"interrupted", interrupted},
               {"seconds", seconds},
               {"validation_seconds", validation_s},
               {"checkpoint_seconds", checkpoint_s},
               {"memory", voxshard::to_json(memory)}};
  if (!drawn_on.is_null()) json["samples_drawn_on"] = drawn_on;
  if (averaged) json["mean_" + metric + "_averaged"] = averaged->score;
  if (!best_weights.empty()) json["best_weights"] = best_weights;
  if (!missed.empty()) json["missed"] = missed;
  if (chosen_on_test) json["chosen_on_test"] = true;
  if (!ranks.empty()) json["ranks"] = ranks;
  if (prepared) json["prepared"] = voxshard::to_json(*prepared);
  if (held_out) json["held_out"] = voxshard::to_json(*held_out);
  return json;
}

}  // namespace voxshard
