#include "pipelines/tasks/classification/scores/classes_difference.h"

#include <algorithm>
#include <cmath>

#include "pipelines/tasks/classification/scores/class_predictions.h"

namespace voxshard {

AnswerDifference classes_difference(const std::filesystem::path& reference, const std::filesystem::path& found,
                                    DType precision) {
  const double most = precision == DType::kBF16 ? 0.05 : 0.001;
  const ClassPredictions a = read_class_predictions(reference), b = read_class_predictions(found);
  AnswerDifference apart{.unit = "probabilities"};
  bool alike = a.classes == b.classes && a.rows.size() == b.rows.size() && a.failures.empty() && b.failures.empty();
  for (std::size_t i = 0; i < a.rows.size(); ++i) {
    const std::vector<double>& of_a = a.rows[i].probabilities;
    apart.compared += std::ssize(of_a);
    alike = alike && a.rows[i].file == b.rows[i].file && of_a.size() == b.rows[i].probabilities.size();
    for (std::size_t c = 0; alike && c < of_a.size(); ++c)
      apart.differing += std::abs(of_a[c] - b.rows[i].probabilities[c]) > most ? 1 : 0;
  }
  if (!alike) apart.compared = apart.differing = std::max<std::int64_t>(1, apart.compared);
  return apart;
}

}  // namespace voxshard
