#include "pipelines/tasks/detection/samples/decoded_images.h"

#include <algorithm>

#include "libcore/base/parallel.h"
#include "pipelines/tasks/detection/samples/image_memory.h"

namespace voxshard {
namespace {

/// Returns the memory of `in_flight` images at once, each counted as the largest.
ProcessPlan plan_of(const DetectionDataset& set, std::int64_t in_flight) {
  std::int64_t pixels = 0, frames = 0;
  for (const DetectionImage& image : set.images) {
    pixels = std::max(pixels, image.height * image.width);
    frames += image_address(image.file).frame.has_value();
  }
  ProcessPlan plan = reading_image_plan(pixels, frames);
  for (std::int64_t i = 1; i < in_flight; ++i) plan += reading_image_plan(pixels, 0);
  return plan;
}

/// Returns the number of images that the memory holds at once, at least one.
int images_at_once(const DetectionDataset& set, const ImagePass& pass) {
  int count = std::min(pass.threads, static_cast<int>(std::min<std::size_t>(set.images.size(), 1024)));
  while (count > 1 && pass.memory_bytes > 0 && plan_of(set, count).total() > pass.memory_bytes) --count;
  return std::max(count, 1);
}

}  // namespace

void leave_out_undecoded(DetectionDataset& set, const ImageReader& reader, const ImagePass& pass) {
  const int at_once = images_at_once(set, pass);
  require_fits(plan_of(set, at_once), pass.memory_bytes, ErrorKind::kBudget, "looking at " + set.source.string(),
               "Leave the largest pictures out with {most-pixels}");
  std::vector<std::optional<EntryNote>> failed(set.images.size());
  WorkerPool pool(at_once);
  pool.run(std::ssize(set.images), [&](std::int64_t i, int) {
    throw_if_stopped(pass.stop);
    const auto at = static_cast<std::size_t>(i);
    try {
      static_cast<void>(reader.read(set.images[at].file));
    } catch (const Error& e) {  // a memory error is no fault of the image
      if (e.kind() != ErrorKind::kInput) throw;
      failed[at] = EntryNote{set.images[at].file.filename().string(), e.code(), e.what()};
    }
  });
  std::vector<DetectionImage> kept;
  for (std::size_t i = 0; i < set.images.size(); ++i)
    if (failed[i])
      set.notes.push_back(std::move(*failed[i]));
    else
      kept.push_back(std::move(set.images[i]));
  set.images = std::move(kept);
  if (set.images.empty() && !failed.empty())
    throw Error(ErrorKind::kNoCase, "[data] " + set.source.string() + ": no picture can be decoded; the first: " +
                                        set.notes.back().entry + " " + set.notes.back().message);
}

}  // namespace voxshard
