#include "pipelines/tasks/classification/scores/class_validation.h"

#include "libcore/metrics/classified.h"
#include "pipelines/tasks/classification/scores/class_detail.h"
#include "pipelines/tasks/classification/scores/classify_batch.h"

namespace voxshard {
namespace {

class ItemValidation : public ValidationPass {
 public:
  ItemValidation(const ClassDataset& set, const ClassPreparation& preparation, const ItemReader& reader)
      : set_(set), preparation_(preparation), reader_(reader), found_{.classes = std::ssize(set.classes)} {}

  CoreWork work() const override { return class_work(); }
  std::vector<PredictionTurn> turns() const override { return item_batches(set_.items, preparation_); }
  std::string name(std::size_t input) const override { return set_.items[input].name; }

  std::vector<CaseFailure> validate(Session& session, const PredictionTurn& turn) override {
    ReadBatch read = read_batch(turn, set_.items, {ErrorKind::kInput}, session.pool(),
                                [&](const ClassItem& item) { return reader_.read(item, set_.pixels.get()); });
    if (read.samples.empty()) return std::move(read.failures);
    const auto rows = classify(session, turn.extents, read.samples);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      found_.truth.push_back(set_.items[read.items[i]].label);
      names_.push_back(set_.items[read.items[i]].name);
      found_.probabilities.insert(found_.probabilities.end(), rows[i].begin(), rows[i].end());
    }
    return std::move(read.failures);
  }

  Validation result() const override {
    Validation validation{.score = found_.count() > 0 ? accuracy(found_) : 0};
    for (const RecallAndPrecision& scores : class_scores(confusion_matrix(found_), found_.classes))
      validation.by_class.push_back(scores.recall);
    validation.classes = set_.classes;
    if (found_.count() > 0) validation.detail = class_detail(found_, set_.classes, names_);
    return validation;
  }
  std::string nothing_read() const override {
    return "items that validate can be read: the accuracy of 0 says nothing";
  }

 private:
  const ClassDataset& set_;
  const ClassPreparation& preparation_;
  const ItemReader& reader_;
  Classified found_;
  std::vector<std::string> names_;  // of the items in found_
};

}  // namespace

std::unique_ptr<ValidationPass> validate_items(const ClassDataset& set, const ClassPreparation& preparation,
                                               const ItemReader& reader) {
  return std::make_unique<ItemValidation>(set, preparation, reader);
}

}  // namespace voxshard
