// A convolution of a concat that is never made, and its input gradient part by part: the same bits as with the concat.
#include "tests/kernels/direct_conv.h"
#include "tests/kernels/support.h"

namespace voxshard {
namespace {

using namespace test;

constexpr std::int64_t kFirst = 5, kSecond = 3, kOut = 20;

struct Parts {
  Place whole, first, second, weights, bias;  // whole: both side by side
  Window window;
  Box out;
};

Parts parts(DType type, std::int64_t kernel, std::int64_t stride, std::int64_t margin) {
  Parts p;
  p.window = {Dims::filled(3, kernel), Dims::filled(3, stride), Dims::filled(3, 1), Dims::filled(3, kernel / 2),
              Dims::filled(3, kernel / 2)};
  Box box{{0, 4, 0, 2, 0}, {2, 6, 7, 9, kFirst + kSecond}};
  p.whole = random(type, box, 11, margin);
  box.extent[4] = kFirst;
  p.first = place(type, box, margin);
  copy(p.whole.view.sub(box), p.first.view);
  Box rest = box;
  rest.set(4, kFirst, kFirst + kSecond);
  TensorView from = p.whole.view.sub(rest);
  from.box.set(4, 0, kSecond);
  p.second = place(type, from.box, margin);
  copy(from, p.second.view);
  p.weights = random(type, Box::whole({kernel, kernel, kernel, kFirst + kSecond, kOut}), 12);
  p.bias = random(DType::kF32, Box::whole({kOut}), 13);
  p.out = Box{{0, ceil_div(4, stride), 0, ceil_div(2, stride), 0}, {2, 3, 3, 4, kOut}};
  return p;
}

class ConvParts : public testing::TestWithParam<std::tuple<KernelSet, DType, std::int64_t, std::int64_t>> {};

TEST_P(ConvParts, GiveTheBitsOfTheConvolutionOfTheirConcat) {
  const auto [set, type, kernel, stride] = GetParam();
  for (std::int64_t margin : {0, 2}) {
    const Parts p = parts(type, kernel, stride, margin);
    Place expected = place(type, p.out), got = place(type, p.out);
    const Shape shape = p.weights.view.extent();
    run_kernel(*make_conv_forward(set, p.window, shape, type), {p.whole.view, p.weights.view, p.bias.view},
               expected.view);
    run_kernel(*make_conv_forward(set, p.window, shape, type, 2),
               {p.first.view, p.second.view, p.weights.view, p.bias.view}, got.view);
    expect_same_bits(expected.view, got.view, "margin " + std::to_string(margin));
    EXPECT_GT(dot(got.view, got.view), 0.0);
  }
}

TEST_P(ConvParts, AnInputGradientOfSomeChannelsIsThatPartOfTheWhole) {
  const auto [set, type, kernel, stride] = GetParam();
  const Parts p = parts(type, kernel, stride, 0);
  const Shape shape = p.weights.view.extent();
  const Place d_y = random(type, p.out, 14);
  Place whole = place(type, p.whole.view.box);
  run_kernel(*make_conv_input_grad(set, p.window, shape, type), {d_y.view, p.weights.view}, whole.view);
  std::int64_t channel = 0;
  for (std::int64_t channels : {kFirst, kSecond}) {
    Box box = p.whole.view.box;
    box.set(4, 0, channels);
    Place part = place(type, box);
    run_kernel(*make_conv_input_grad(set, p.window, shape, type, channel, channels), {d_y.view, p.weights.view},
               part.view);
    TensorView in_place = part.view;
    in_place.box.set(4, channel, channel + channels);
    expect_same_sums(whole.view, in_place, p.window.volume() * kOut, "channels from " + std::to_string(channel));
    channel += channels;
  }
}

INSTANTIATE_TEST_SUITE_P(Sets, ConvParts,
                         testing::Combine(testing::Values(KernelSet::kReference, KernelSet::kFast),
                                          testing::Values(DType::kF32, DType::kBF16), testing::Values(1, 2, 3),
                                          testing::Values(1, 2)));

TEST(ConvParts, APartThatHoldsLessThanIsReadIsPaddedWithZeros) {
  const Parts p = parts(DType::kF32, 3, 1, 0);
  Box out = p.out;
  out.set(1, 4, 10);  // reads planes 3 to 11; the parts hold 4 to 10
  Place expected = place(DType::kF32, out), got = place(DType::kF32, out);
  const Shape shape = p.weights.view.extent();
  run_kernel(*make_conv_forward(KernelSet::kReference, p.window, shape, DType::kF32),
             {p.whole.view, p.weights.view, p.bias.view}, expected.view);
  run_kernel(*make_conv_forward(KernelSet::kFast, p.window, shape, DType::kF32, 2),
             {p.first.view, p.second.view, p.weights.view, p.bias.view}, got.view);
  expect_close(expected.view, got.view, sum_tolerance(DType::kF32, p.window.volume() * (kFirst + kSecond)), "padded");
}

}  // namespace
}  // namespace voxshard
