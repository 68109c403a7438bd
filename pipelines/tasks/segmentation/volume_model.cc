#include "pipelines/tasks/segmentation/volume_model.h"

#include <nlohmann/json.hpp>

#include "libcore/base/text.h"
#include "pipelines/model_runs/run_preparation.h"

namespace voxshard {

VolumeModel volume_model_of(const TrainedRun& run) {
  return preparation_of_run(run, [&](const nlohmann::json& preparation) {
    PreparePlan plan = plan_from_json(preparation);
    const std::size_t classes = plan.class_names.size(), channels = plan.channels.size();
    return VolumeModel{.plan = std::move(plan),
                       .sides = side_rule_of(preparation),
                       .quality = quality_ranges_of(preparation, classes, channels),
                       .multiple = run.spec.multiple(),
                       .classes = std::get<std::int64_t>(run.spec.get("classes"))};
  });
}

void require_averageable(const TrainedRun& run) {
  const auto agree = [&](const std::string& what, const std::function<std::string(const VolumeModel&)>& fact) {
    require_agreement(run, what, [&](const TrainedRun& one) { return fact(volume_model_of(one)); });
  };
  const auto list = [](const std::vector<std::string>& names) {
    return joined(names, ", ", [](const std::string& name) { return name; });
  };
  agree("classes", [&](const VolumeModel& m) {
    const JoinedClasses sides = m.sides.joined();
    return list(sides.any() ? sides.names(m.plan.class_names) : m.plan.class_names);
  });
  agree("channels", [&](const VolumeModel& m) { return list(m.plan.channels); });
  agree("convention",
        [](const VolumeModel& m) { return convention_names().at(static_cast<std::size_t>(m.plan.convention)); });
  agree("orientation, since probabilities are averaged on the prepared grid,",
        [](const VolumeModel& m) { return m.plan.orientation; });
  agree("spacing, since probabilities are averaged on the prepared grid,", [](const VolumeModel& m) {
    if (!m.plan.spacing_mm) return std::string("that of each image");
    const std::string target = nlohmann::json(*m.plan.spacing_mm).dump() + " mm";
    return m.plan.kept ? target + " beyond " + nlohmann::json({m.plan.kept->low_mm, m.plan.kept->high_mm}).dump()
                       : target;
  });
}

void require_probabilities(const TrainedRun& run) {
  const VolumeModel model = volume_model_of(run);
  if (!model.sides.empty())
    throw Error(ErrorKind::kUsage,
                "[predict] {probabilities}: " + run.file.string() +
                    " was trained with classes of left and right joined, which are told apart behind the network and "
                    "have no probabilities of their own; leave {probabilities} out, or train with {sides} keep");
  if (model.plan.convention == Convention::kNnunet && model.plan.spacing_mm)
    throw Error(ErrorKind::kUsage,
                "[predict] {probabilities}: " + run.file.string() +
                    " was prepared with {convention} nnunet at a spacing, whose label maps are resampled by masks of "
                    "labels and have no probabilities on the grid of the files; leave {probabilities} out");
}

}  // namespace voxshard
