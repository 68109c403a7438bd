// K-fold splits that equal nnU-Net's: sklearn.model_selection.KFold(5, shuffle=True, random_state=12345) on sorted ids.
// NumPy's legacy shuffle is a Fisher-Yates walk from the end on MT19937 (std::mt19937 has the same seeding), where a
// bounded number is drawn by masking and rejection.
//
//   make_splits({"a", "b", "c", "d", "e"})[0].val   // one id
#include <algorithm>
#include <map>
#include <numeric>

#include <nlohmann/json.hpp>

#include "io/datasets/dataset.h"
#include "io/datasets/numpy_random.h"
#include "io/files/atomic_file.h"
#include "io/files/config_file.h"
#include "io/files/file_error.h"
#include "io/files/file_name.h"

namespace voxshard {

std::vector<std::size_t> numpy_permutation(std::size_t count, std::uint32_t seed) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  NumpyRandom random(seed);
  for (std::size_t i = count; i-- > 1;) std::swap(order[i], order[random.below(i + 1)]);
  return order;
}

std::vector<Split> make_splits(std::vector<std::string> ids, int folds, std::uint32_t seed) {
  if (folds < 2 || ids.size() < static_cast<std::size_t>(folds))
    throw Error(ErrorKind::kConfig, "[split] cannot make " + std::to_string(folds) + " folds of " +
                                        std::to_string(ids.size()) +
                                        " cases; expected at least 2 folds and one case each: choose fewer folds");
  std::sort(ids.begin(), ids.end());
  const auto order = numpy_permutation(ids.size(), seed);
  const std::size_t k = static_cast<std::size_t>(folds);
  std::vector<Split> splits(k);
  std::size_t begin = 0;
  for (std::size_t f = 0; f < k; ++f) {
    const std::size_t end = begin + ids.size() / k + (f < ids.size() % k ? 1 : 0);
    std::vector<bool> held_out(ids.size(), false);
    for (std::size_t i = begin; i < end; ++i) held_out[order[i]] = true;
    for (std::size_t i = 0; i < ids.size(); ++i) (held_out[i] ? splits[f].val : splits[f].train).push_back(ids[i]);
    begin = end;
  }
  return splits;
}

std::vector<std::vector<std::string>> cases_by_patient(const std::vector<Case>& cases) {
  std::map<int, std::vector<std::string>> ids;
  for (const Case& item : cases)
    if (item.patient != 0) ids[item.patient].push_back(item.id);
  std::vector<std::vector<std::string>> several;
  for (auto& [patient, of_one] : ids) {
    std::sort(of_one.begin(), of_one.end());
    if (of_one.size() > 1) several.push_back(std::move(of_one));
  }
  std::sort(several.begin(), several.end());
  return several;
}

std::vector<Split> read_splits(const std::filesystem::path& path) {
  const nlohmann::json list = read_json(path);
  std::vector<Split> splits;
  try {
    for (const auto& one : list)
      splits.push_back(
          {one.at("train").get<std::vector<std::string>>(), one.at("val").get<std::vector<std::string>>()});
  } catch (const nlohmann::json::exception&) {
    splits.clear();
  }
  if (splits.empty())
    throw input_error(path, "is no list of {\"train\": [...], \"val\": [...]}", "remove it to split anew");
  for (const Split& one : splits)
    for (const auto* ids : {&one.train, &one.val})
      for (const std::string& id : *ids)
        if (const std::string problem = name_problem(id); !problem.empty())
          throw input_error(path, "names the case \"" + shown_name(id) + "\", which " + problem,
                            "remove it to split anew", "E_NAME");
  return splits;
}

void write_splits(const std::filesystem::path& path, const std::vector<Split>& splits) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Split& one : splits) {
    nlohmann::ordered_json fold;
    fold["train"] = one.train;
    fold["val"] = one.val;
    list.push_back(fold);
  }
  write_text_atomically(path, list.dump(4));
}

}  // namespace voxshard
