#include "pipelines/tasks/classification/demo/demo_digits.h"

#include <algorithm>
#include <array>

#include "io/datasets/idx.h"
#include "io/output/output_folder.h"
#include "pipelines/phantoms/digit_phantom.h"

namespace voxshard {

DemoReport demo_digits(const DemoOptions& options, int magnify, Progress& progress) {
  const int train = options.cases.value_or(4000), test = options.test_cases.value_or(1000), total = train + test;
  const std::int64_t side = 28 * magnify;
  OutputFolder folder({.folder = options.folder, .command = "demo", .inputs = {}, .option = ""});
  const std::set<std::string> names = {"train", "test"};
  folder.start({.options = demo_hash(options, train, test), .parts = names});
  std::array<Tensor, 2> pixels, labels;  // train, test
  for (const std::size_t part : {std::size_t{0}, std::size_t{1}}) {
    const std::int64_t count = part == 0 ? train : test;
    pixels[part] = Tensor(DType::kU8, {count, side, side}), labels[part] = Tensor(DType::kU8, {count});
  }
  make_demo_cases(options, total, "digits", progress, [&](int i) {
    const std::size_t part = i < train ? 0 : 1;
    const std::int64_t place = part == 0 ? i : i - train;
    const DigitPhantom digit = make_digit_phantom({.seed = options.seed, .index = i, .side = static_cast<int>(side)});
    std::copy_n(digit.pixels.as<std::uint8_t>(), side * side, pixels[part].as<std::uint8_t>() + place * side * side);
    labels[part].as<std::uint8_t>()[place] = static_cast<std::uint8_t>(digit.label);
    return std::string();
  });
  for (const std::size_t part : {std::size_t{0}, std::size_t{1}}) {
    if (labels[part].count() == 0) continue;
    const std::string name = part == 0 ? "train" : "t10k";
    const std::string images = name + "-images-idx3-ubyte", classes = name + "-labels-idx1-ubyte";
    folder.begin(part == 0 ? "train" : "test", {images, classes});
    write_idx(options.folder / images, pixels[part]);
    write_idx(options.folder / classes, labels[part]);
    folder.commit(part == 0 ? "train" : "test", "");
  }
  std::vector<std::string> next = {
      "train", options.folder.string(), "{output}", "run", "{model}", "digits", "{batch}", "64", "{steps}", "320"};
  if (magnify > 1) next.insert(next.end(), {"{size-multiplier}", std::to_string(magnify)});
  return {
      .cases = train, .test_cases = test, .points = total * side * side, .point = "pixels", .next = std::move(next)};
}

}  // namespace voxshard
