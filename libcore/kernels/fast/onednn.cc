// Only this file and library_set.cc include oneDNN. Rules that avoid its pitfalls (see onednn.h for the interface):
// dense plain descriptors only, algorithm direct only (Winograd breaks integer equality), user scratchpads, one thread
// per primitive.
//
// A kernel that does not extend over D runs as a 2-D convolution whose batch is D.
#include "libcore/kernels/fast/onednn.h"

#include <omp.h>

#include <limits>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <unordered_map>

#include "libcore/base/text.h"
#include "libcore/kernels/fast/library_set.h"

namespace voxshard {

namespace fast {
namespace {

using dnnl::memory;

/// The library caches the code of this many primitives beyond those that kernels hold: the reorders of each step's
/// weights. Its default, 1024, keeps tens of MiB for plans that no longer exist.
constexpr int kCachedPrimitives = 128;

dnnl::engine make_engine() {
  limit_library();
  dnnl::set_primitive_cache_capacity(kCachedPrimitives);
  return {dnnl::engine::kind::cpu, 0};
}

/// Every primitive and every operand calls this before it is made, so the library runs on the calling thread alone.
const dnnl::engine& engine() {
  static const dnnl::engine cpu = make_engine();
  thread_local const bool pinned = (omp_set_num_threads(1), true);
  (void)pinned;
  return cpu;
}

dnnl::stream& stream() {
  thread_local dnnl::stream one(engine());
  return one;
}

memory::data_type library_type(DType type) {
  return type == DType::kBF16 ? memory::data_type::bf16 : memory::data_type::f32;
}

// Versions 2 (Debian 12) and 3 (Debian 13) differ in how primitives are described and descriptors queried.
#if DNNL_VERSION_MAJOR >= 3
std::size_t rank_of(const memory::desc& desc) { return desc.get_dims().size(); }
#else
std::size_t rank_of(const memory::desc& desc) { return desc.dims().size(); }
#endif

bool is_planar(const Window& w) { return w.kernel[0] == 1 && w.stride[0] == 1; }

/// Converts (D, H, W, C) to the library's logical order, with D as batch when planar.
memory::desc activation(const Dims& e, DType type, bool planar) {
  if (planar) return {{e[0], e[3], e[1], e[2]}, library_type(type), memory::format_tag::nhwc};
  return {{1, e[3], e[0], e[1], e[2]}, library_type(type), memory::format_tag::ndhwc};
}

memory::dims weight_dims(const Dims& e, bool planar) {
  if (planar) return {e[4], e[3], e[1], e[2]};
  return {e[4], e[3], e[0], e[1], e[2]};
}

memory::desc plain_weights(const Dims& e, const Dims& s, DType type, bool planar) {
  if (planar) return {weight_dims(e, true), library_type(type), memory::dims{s[4], s[3], s[1], s[2]}};
  return {weight_dims(e, false), library_type(type), memory::dims{s[4], s[3], s[0], s[1], s[2]}};
}

memory::dims window_dims(const Dims& values, bool planar, std::int64_t less = 0) {
  memory::dims d;
  for (int a = planar ? 1 : 0; a < 3; ++a) d.push_back(values[a] - less);
  return d;
}

/// True for library code that is slower than voxshard's own: its reference, and im2col with a large scratch.
bool is_slow(const std::string& name) {
  return name.find("ref") != std::string::npos || name.find("gemm") != std::string::npos;
}

void reorder(const memory::desc& from, const void* src, const memory::desc& to, void* dst) {
  memory a(from, engine(), const_cast<void*>(src)), b(to, engine(), dst);
  dnnl::reorder(a, b).execute(stream(), a, b);
  stream().wait();
}

}  // namespace

struct WeightsLayout::Impl {
  memory::desc desc;
};

struct LibraryConv::Impl {
  memory::desc src, dst, bias, scratch;
  WeightsLayout weights;
  dnnl::primitive primitive;
  std::string name;
};

Dims ConvGeometry::key() const {
  // The owner of this key fixes dst, Co and Ci, so the source extent and the types remain.
  return {src[0],
          src[1],
          src[2],
          dst[0] * 4 + (compute == DType::kBF16 ? 2 : 0) + (dst_type == DType::kBF16 ? 1 : 0),
          dst[1] * 2 + (bias ? 1 : 0),
          dst[2]};
}

std::int64_t WeightsLayout::bytes() const { return static_cast<std::int64_t>(impl_->desc.get_size()); }
bool WeightsLayout::same_as(const WeightsLayout& other) const { return impl_->desc == other.impl_->desc; }

void WeightsLayout::pack(const void* plain, DType type, const Dims& extents, const Dims& strides, void* packed) const {
  const bool planar = rank_of(impl_->desc) == 4;
  reorder(plain_weights(extents, strides, type, planar), plain, impl_->desc, packed);
}

namespace {

/// The descriptor of outputs [first, first + channels) within that of all outputs.
memory::desc channels_of(const memory::desc& all, memory::dims extents, std::int64_t first, std::int64_t channels) {
  memory::dims offsets(extents.size(), 0);
  extents[0] = channels;
  offsets[0] = first;
  return all.submemory_desc(extents, offsets);
}

}  // namespace

bool WeightsLayout::keeps_apart(const Dims& extents, std::int64_t channels) const {
  try {
    const memory::dims dims = weight_dims(extents, rank_of(impl_->desc) == 4);
    for (std::int64_t first = 0; first < extents[4]; first += channels) channels_of(impl_->desc, dims, first, channels);
    return true;
  } catch (const dnnl::error&) {  // a block of the layout reaches over the border, or it keeps sums behind the weights
    return false;
  }
}

void WeightsLayout::pack_channels(const void* plain, DType type, const Dims& extents, const Dims& strides, void* packed,
                                  std::int64_t first, std::int64_t channels) const {
  const bool planar = rank_of(impl_->desc) == 4;
  Dims part = extents;
  part[4] = channels;
  reorder(plain_weights(part, strides, type, planar), plain,
          channels_of(impl_->desc, weight_dims(extents, planar), first, channels), packed);
}

void WeightsLayout::unpack(const void* packed, const Dims& extents, float* plain) const {
  const bool planar = rank_of(impl_->desc) == 4;
  reorder(impl_->desc, packed, plain_weights(extents, dense_strides(extents), DType::kF32, planar), plain);
}

void WeightsLayout::repack(const WeightsLayout& from, const void* packed, void* to) const {
  reorder(from.impl_->desc, packed, impl_->desc, to);
}

LibraryConv::LibraryConv(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
LibraryConv::~LibraryConv() = default;

namespace {

struct Descriptors {
  bool planar;
  memory::desc src, dst, weights, bias;
  memory::dims stride, dilation, padding;
};

/// The library counts positions, and the elements of a row, in 32 bits in places: beyond that it divides by zero.
void require_countable(const ConvGeometry& g) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  for (const Dims& e : {g.src, g.dst})
    if (e[0] * e[1] * e[2] > kMost || e[2] * e[3] > kMost)
      throw Error(ErrorKind::kConfig, "[kernel] a convolution over " + joined_text(e.begin(), e.axes()) +
                                          " (D H W C) in one piece: its kernels count to 2^31 positions; cut it finer "
                                          "with {partition}, or give a smaller size");
}

Descriptors describe(const ConvGeometry& g, DType dst_type, DType weights_type, const WeightsLayout* wanted) {
  require_countable(g);
  const bool planar = is_planar(g.window);
  const Dims w = {g.window.kernel[0], g.window.kernel[1], g.window.kernel[2], g.src[3], g.dst[3]};
  Descriptors d{planar, activation(g.src, g.compute, planar), activation(g.dst, dst_type, planar), {}, {}, {}, {}, {}};
  d.weights = wanted != nullptr
                  ? wanted->impl().desc
                  : memory::desc(weight_dims(w, planar), library_type(weights_type), memory::format_tag::any);
  if (g.bias) d.bias = memory::desc({g.dst[3]}, memory::data_type::f32, memory::format_tag::a);
  d.stride = window_dims(g.window.stride, planar);
  d.dilation = window_dims(g.window.dilation, planar, 1);
  d.padding = memory::dims(d.stride.size(), 0);
  return d;
}

dnnl::primitive_attr user_scratch() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attr;
}

constexpr auto kTraining = dnnl::prop_kind::forward_training;
constexpr auto kDirect = dnnl::algorithm::convolution_direct;
using ForwardDesc = dnnl::convolution_forward::primitive_desc;
using WeightsDesc = dnnl::convolution_backward_weights::primitive_desc;

#if DNNL_VERSION_MAJOR >= 3
ForwardDesc forward_desc(const Descriptors& d) {
  return {engine(), kTraining, kDirect,    d.src,     d.weights, d.bias,
          d.dst,    d.stride,  d.dilation, d.padding, d.padding, user_scratch()};
}
WeightsDesc weights_desc(const Descriptors& d, const ForwardDesc& hint) {
  return {engine(), kDirect, d.src, d.weights, d.dst, d.stride, d.dilation, d.padding, d.padding, hint, user_scratch()};
}
#else
ForwardDesc forward_desc(const Descriptors& d) {
  return {{kTraining, kDirect, d.src, d.weights, d.bias, d.dst, d.stride, d.dilation, d.padding, d.padding},
          user_scratch(),
          engine()};
}
WeightsDesc weights_desc(const Descriptors& d, const ForwardDesc& hint) {
  return {
      {kDirect, d.src, d.weights, d.dst, d.stride, d.dilation, d.padding, d.padding}, user_scratch(), engine(), hint};
}
#endif

}  // namespace

std::shared_ptr<const LibraryConv> LibraryConv::forward(const ConvGeometry& g, const WeightsLayout* wanted,
                                                        bool accept_slow) {
  try {
    const Descriptors d = describe(g, g.dst_type, g.compute, wanted);
    const auto pd = forward_desc(d);
    const std::string name = pd.impl_info_str();
    if (!accept_slow && is_slow(name)) return nullptr;
    auto layout = std::make_shared<const WeightsLayout::Impl>(WeightsLayout::Impl{pd.weights_desc()});
    return std::make_shared<const LibraryConv>(std::unique_ptr<Impl>(new Impl{
        d.src, d.dst, d.bias, pd.scratchpad_desc(), WeightsLayout(layout), dnnl::convolution_forward(pd), name}));
  } catch (const dnnl::error&) {
    return nullptr;
  }
}

std::shared_ptr<const LibraryConv> LibraryConv::weight_grad(const ConvGeometry& g, const WeightsLayout* wanted,
                                                            bool accept_slow) {
  try {
    ConvGeometry plain = g;
    plain.bias = false;
    const Descriptors hint = describe(plain, g.compute, g.compute, nullptr);
    const Descriptors d = describe(plain, g.compute, DType::kF32, wanted);
    const WeightsDesc pd = weights_desc(d, forward_desc(hint));
    const std::string name = pd.impl_info_str();
    if (!accept_slow && is_slow(name)) return nullptr;
    auto layout = std::make_shared<const WeightsLayout::Impl>(WeightsLayout::Impl{pd.diff_weights_desc()});
    return std::make_shared<const LibraryConv>(
        std::unique_ptr<Impl>(new Impl{d.src, d.dst, d.bias, pd.scratchpad_desc(), WeightsLayout(layout),
                                       dnnl::convolution_backward_weights(pd), name}));
  } catch (const dnnl::error&) {
    return nullptr;
  }
}

const WeightsLayout& LibraryConv::weights() const { return impl_->weights; }
const char* LibraryConv::name() const { return impl_->name.c_str(); }

std::int64_t LibraryConv::scratch_bytes() const { return static_cast<std::int64_t>(impl_->scratch.get_size()); }

void LibraryConv::run_forward(const void* src, const void* weights, const float* bias, void* dst, void* scratch) const {
  auto at = [](const memory::desc& desc, const void* p) { return memory(desc, engine(), const_cast<void*>(p)); };
  std::unordered_map<int, memory> args = {{DNNL_ARG_SRC, at(impl_->src, src)},
                                          {DNNL_ARG_WEIGHTS, at(impl_->weights.impl().desc, weights)},
                                          {DNNL_ARG_DST, at(impl_->dst, dst)}};
  if (!impl_->bias.is_zero()) args.emplace(DNNL_ARG_BIAS, at(impl_->bias, bias));
  if (scratch_bytes() > 0) args.emplace(DNNL_ARG_SCRATCHPAD, at(impl_->scratch, scratch));
  impl_->primitive.execute(stream(), args);
  stream().wait();
}

void LibraryConv::run_weight_grad(const void* src, const void* d_dst, void* d_weights, void* scratch) const {
  auto at = [](const memory::desc& desc, const void* p) { return memory(desc, engine(), const_cast<void*>(p)); };
  std::unordered_map<int, memory> args = {{DNNL_ARG_SRC, at(impl_->src, src)},
                                          {DNNL_ARG_DIFF_WEIGHTS, at(impl_->weights.impl().desc, d_weights)},
                                          {DNNL_ARG_DIFF_DST, at(impl_->dst, d_dst)}};
  if (scratch_bytes() > 0) args.emplace(DNNL_ARG_SCRATCHPAD, at(impl_->scratch, scratch));
  impl_->primitive.execute(stream(), args);
  stream().wait();
}

}  // namespace fast
}  // namespace voxshard
