#include "libcore/ops/channel_axis.h"

namespace voxshard {
namespace {

/// Returns `attrs` for the reference kernel in one slice.
template <class Attrs>
Attrs plainly(Attrs attrs) {
  attrs.computed_by = ConvKernel::kReference;
  attrs.slices = 1;
  return attrs;
}

struct Rule {
  const OpContext& op;

  std::optional<ChannelAxis> operator()(const ConvAttrs& attrs) const {
    const auto weights = static_cast<std::size_t>(attrs.parts);
    ChannelAxis rule{.axis = op.result.shape.axes() - 1,
                     .carriers = {{weights, op.inputs[weights].shape.axes() - 1}},
                     .single = plainly(attrs)};
    if (op.inputs.size() > weights + 1) rule.carriers.push_back({weights + 1, 0});
    return rule;
  }

  std::optional<ChannelAxis> operator()(const ConvInputGradAttrs& attrs) const {
    ConvInputGradAttrs single = plainly(attrs);
    single.shape[single.shape.axes() - 1] = 1;
    single.first_channel = 0;
    ChannelAxis rule{.axis = op.result.shape.axes() - 1,
                     .carriers = {{1, op.inputs[1].shape.axes() - 2, attrs.first_channel}},
                     .single = single};
    if (op.inputs.size() > 2) rule.carriers.push_back({2, 0});
    return rule;
  }

  std::optional<ChannelAxis> operator()(const ConvWeightGradAttrs& attrs) const {
    return ChannelAxis{
        .axis = op.result.shape.axes() - 2, .carriers = {{0, op.inputs[0].shape.axes() - 1}}, .single = plainly(attrs)};
  }

  std::optional<ChannelAxis> operator()(const auto&) const { return {}; }
};

}  // namespace

std::optional<ChannelAxis> channel_axis(const OpContext& op) { return std::visit(Rule{op}, op.attrs); }

}  // namespace voxshard
