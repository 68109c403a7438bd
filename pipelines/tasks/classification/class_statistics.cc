#include "pipelines/tasks/classification/class_statistics.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "io/files/file_name.h"
#include "libcore/base/parallel.h"

namespace voxshard {
namespace {

constexpr double kMostPoints = 0x1p28;
constexpr double kLeastDeviation = 1e-6;  // of a set of one intensity

/// "W_FRAMES ..." of every `every`-th item; empty when all of their frames decode.
std::string repeated_note(const ClassDataset& set, const std::vector<std::int64_t>& repeated, std::size_t every) {
  const auto first = std::ranges::find_if(repeated, [](std::int64_t frames) { return frames > 0; });
  if (first == repeated.end()) return "";
  const auto clips = std::ranges::count_if(repeated, [](std::int64_t frames) { return frames > 0; });
  const ClassItem& item = set.items[static_cast<std::size_t>(first - repeated.begin()) * every];
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

std::string set_statistics(ClassPreparation& preparation, ClassDataset& set, const ClassReading& reading) {
  double points = 0;
  for (const ClassItem& item : set.items) points += static_cast<double>(element_count(item.size));
  const auto every = static_cast<std::size_t>(std::max(1.0, std::ceil(points / kMostPoints)));
  const std::size_t read = (set.items.size() + every - 1) / every;
  const ItemReader reader(preparation, reading);
  std::vector<std::vector<ChannelSums>> sums(read);
  std::vector<std::vector<CaseFailure>> failed(set.items.size());
  std::vector<std::int64_t> repeated(read, 0);  // frames that do not decode
  WorkerPool pool(hardware_workers());
  pool.run(static_cast<std::int64_t>(read), [&](std::int64_t i, int) {
    const std::size_t at = static_cast<std::size_t>(i) * every;
    const ClassItem& item = set.items[at];
    in_case_boundary(item.name, failed[at], [&] {
      sums[static_cast<std::size_t>(i)] =
          channel_sums(reader.intensities(item, set.pixels.get(), &repeated[static_cast<std::size_t>(i)]));
    });
  });
  std::vector<ChannelSums> all(static_cast<std::size_t>(preparation.channels));
  for (const auto& one : sums)
    for (std::size_t c = 0; c < one.size(); ++c)
      all[c].sum += one[c].sum, all[c].square += one[c].square, all[c].count += one[c].count;
  const std::string note = repeated_note(set, repeated, every);
  std::vector<ClassItem> kept;
  for (std::size_t i = 0; i < set.items.size(); ++i) {
    if (failed[i].empty())
      kept.push_back(std::move(set.items[i]));
    else
      set.failures.push_back(failed[i].front());
  }
  set.items = std::move(kept);
  if (set.items.empty())
    throw Error(ErrorKind::kNoCase, "[data] " + set.source.string() +
                                        ": no item can be decoded; the first: " + set.failures.back().message);
  preparation.mean.clear(), preparation.deviation.clear();
  for (const ChannelSums& s : all) {
    const double mean = s.sum / static_cast<double>(s.count);
    preparation.mean.push_back(mean);
    preparation.deviation.push_back(
        std::max(kLeastDeviation, std::sqrt(std::max(0.0, s.square / static_cast<double>(s.count) - mean * mean))));
  }
  return note;
}

}  // namespace voxshard
