#include "pipelines/tasks/classification/samples/class_statistics.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "io/files/file_name.h"
#include "libcore/base/parallel.h"
#include "pipelines/tasks/classification/dataset/class_memory.h"
#include "pipelines/tasks/classification/samples/sample_memory.h"

namespace voxshard {
namespace {

constexpr double kLeastDeviation = 1e-6;  // for a data set with a single intensity

/// Returns "W_FRAMES ..."; empty when all frames decode.
std::string repeated_note(const ClassDataset& set, const std::vector<std::int64_t>& repeated) {
  const auto first = std::ranges::find_if(repeated, [](std::int64_t frames) { return frames > 0; });
  if (first == repeated.end()) return "";
  const auto clips = std::ranges::count_if(repeated, [](std::int64_t frames) { return frames > 0; });
  const ClassItem& item = set.items[first - repeated.begin()];
  return "W_FRAMES " + std::to_string(clips) + (clips == 1 ? " clip has" : " clips have") +
         " frames that do not decode, the frame before stands in; the first is " + shown_name(item.name) + ", with " +
         std::to_string(*first) + " of them";
}

}  // namespace

ColourChoice choose_colour(const ClassDataset& set, const std::string& wanted) {
  const std::int64_t colour = std::ranges::count_if(set.items, &ClassItem::colour),
                     grey = std::ssize(set.items) - colour;
  const bool as_colour = wanted == "colour" || (wanted == "auto" && colour > 0);
  ColourChoice choice{.channels = as_colour ? 3 : 1};
  const std::string text = std::to_string(grey) + " of " + std::to_string(set.items.size()) +
                           " training pictures are grey, the others in colour: ";
  if (as_colour && grey > 0 && colour > 0)
    choice.note = "W_COLOUR " + text + "all are taken as colour; {colour} grey takes them as grey";
  if (!as_colour && colour > 0) choice.note = "W_COLOUR " + text + "all are taken as grey";
  return choice;
}

ItemSums look_at_items(ClassDataset& set, const ClassPreparation& preparation, const ClassReading& reading,
                       const ItemPass& pass) {
  const std::int64_t in_flight = std::min<std::int64_t>(pass.threads, std::ssize(set.items));
  ItemSums sums{.plan = held_plan(set) + reading_whole_plan(most_points(set), in_flight, preparation)};
  require_fits(sums.plan, pass.memory_bytes, ErrorKind::kBudget, "looking at " + set.source.string(),
               "Use fewer {threads}");
  const ItemReader reader(preparation, reading);
  std::vector<std::vector<ChannelSums>> of_items(set.items.size());
  std::vector<std::optional<CaseFailure>> failed(set.items.size());
  std::vector<std::int64_t> repeated(set.items.size(), 0);  // frames that do not decode
  WorkerPool pool(pass.threads);
  pool.run(std::ssize(set.items), [&](std::int64_t i, int) {
    throw_if_stopped(pass.stop);
    const auto at = static_cast<std::size_t>(i);
    const ClassItem& item = set.items[at];
    try {
      of_items[at] = channel_sums(reader.intensities(item, set.pixels.get(), &repeated[at]));
    } catch (const Error& e) {  // a memory error is no fault of the item
      if (e.kind() != ErrorKind::kInput) throw;
      failed[at] = {item.name, e.code(), e.what()};
    }
  });
  sums.note = repeated_note(set, repeated);
  std::vector<ClassItem> kept;
  for (std::size_t i = 0; i < set.items.size(); ++i) {
    if (failed[i]) {
      set.failures.push_back(std::move(*failed[i]));
      continue;
    }
    sums.of_items.push_back(std::move(of_items[i]));
    kept.push_back(std::move(set.items[i]));
  }
  set.items = std::move(kept);
  if (set.items.empty())
    throw Error(ErrorKind::kNoCase, "[data] " + set.source.string() + ": no item can be decoded" +
                                        (set.failures.empty() ? "" : "; the first: " + set.failures.back().message));
  return sums;
}

void set_statistics(ClassPreparation& preparation, const ItemSums& sums) {
  std::vector<ChannelSums> all(static_cast<std::size_t>(preparation.channels));
  for (const auto& of_item : sums.of_items)
    for (std::size_t c = 0; c < of_item.size(); ++c)
      all[c].sum += of_item[c].sum, all[c].square += of_item[c].square, all[c].count += of_item[c].count;
  preparation.mean.clear(), preparation.deviation.clear();
  for (const ChannelSums& s : all) {
    const double mean = s.sum / static_cast<double>(s.count);
    preparation.mean.push_back(mean);
    preparation.deviation.push_back(
        std::max(kLeastDeviation, std::sqrt(std::max(0.0, s.square / static_cast<double>(s.count) - mean * mean))));
  }
}

}  // namespace voxshard
