// The classes of a model that learns the left and the right of a body part as one class. The joined class takes the
// lower of the two numbers, and the classes behind the higher one move up.
//
//   JoinedClasses joined(6, {{.left = 4, .right = 3}});
//   joined.of(4), joined.of(5), joined.classes()        // 3, 4, 5
#pragma once

#include <string>
#include <vector>

#include "pipelines/tasks/sided_classes.h"

namespace voxshard {

class JoinedClasses {
 public:
  /// Nothing is joined, whatever the number of classes.
  JoinedClasses() = default;
  /// Requires different classes of the data in all pairs, from 1 on.
  ///   classes  of the data, with the background
  JoinedClasses(int classes, std::vector<SidePair> pairs);

  bool any() const { return !pairs_.empty(); }
  const std::vector<SidePair>& pairs() const { return pairs_; }
  /// Returns the number of classes of the model.
  int classes() const { return static_cast<int>(parts_.size()); }
  /// Returns the class of the model that a class of the data belongs to. Labels that are no class stay as they are.
  int of(int label) const { return is_known(label, of_.size()) ? of_[label] : label; }
  /// Returns the classes of the data that a class of the model stands for; both are the same unless it is joined.
  SidePair parts(int model_class) const {
    return is_known(model_class, parts_.size()) ? parts_[model_class] : SidePair{model_class, model_class};
  }
  bool is_joined(int model_class) const { return parts(model_class).left != parts(model_class).right; }
  /// Returns the names of the classes of the model: "eye_l + eye_r" for a joined one.
  ///   names  by class of the data
  std::vector<std::string> names(const std::vector<std::string>& names) const;

 private:
  static bool is_known(int label, std::size_t count) { return label >= 0 && static_cast<std::size_t>(label) < count; }

  std::vector<SidePair> pairs_;
  std::vector<int> of_;          // by class of the data
  std::vector<SidePair> parts_;  // by class of the model
};

}  // namespace voxshard
