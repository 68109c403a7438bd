#include "pipelines/profile/device_advice.h"

#include <algorithm>

#include "libcore/base/text.h"
#include "libcore/device/tpu/tpu_spec.h"
#include "libcore/graph/op_def.h"

namespace voxshard {
namespace {

std::int64_t cores_per_host(const TpuSpec& spec) { return spec.host_chips_x * spec.host_chips_y * spec.cores_per_chip; }

struct ThinShare {
  std::string layer;  // the layer with the fewest rows
  double rows = 0;
  int thin = 0, all = 0;  // instructions with products
};

/// Returns the fewest rows of products that a busy core has in any layer, forward or backward.
ThinShare thinnest_share(const Program& program, const OpTable& ops, double tile) {
  ThinShare found;
  for (const Instruction& instruction : program.instructions) {
    if (instruction.kind != InstructionKind::kCompute) continue;
    const Node& node = program.graph.node(instruction.value);
    const OpDef& def = ops.at(node.op);
    const auto types = program.graph.input_types(instruction.value);
    const OpContext op{node.attrs, types, node.type};
    const Shape& shape = def.driver < 0 ? node.type.shape : types[def.driver].shape;
    const Products uncut = work_of(def, op, Box::whole(shape)).products;
    if (uncut.count <= 0 || uncut.rows < tile) continue;  // due to the model, not to the cut
    ++found.all;
    double fewest = uncut.rows;
    for (const auto& blocks : instruction.blocks) {
      Box share = Box::none(shape.axes());
      for (const Box& block : blocks) share = hull(share, block);
      if (!share.empty()) fewest = std::min(fewest, work_of(def, op, share).products.rows);
    }
    if (fewest >= tile) continue;
    if (found.thin++ == 0 || fewest < found.rows) found.layer = node.name, found.rows = fewest;
  }
  return found;
}

}  // namespace

std::string running_on(const NamedDevice& named, const Mesh& mesh, bool replicas_known) {
  const TpuSpec* tpu = named.device ? named.device->tpu() : nullptr;
  const std::int64_t cores = named.cores.value_or(mesh.cores());
  std::string text = "Running on ";
  if (tpu != nullptr)
    text += tpu->name + (named.cores ? "-" + std::to_string(cores) : std::string()) + ", emulated on this machine: " +
            (named.cores || replicas_known
                 ? counted(cores, "core") + " of " + counted(ceil_div(cores, cores_per_host(*tpu)), "host")
                 : "hosts of " + counted(cores_per_host(*tpu), "core"));
  else
    text += std::string("this machine") + (named.device ? "" : ", not measured (voxshard doctor)") + ": 1 host" +
            (replicas_known ? ", " + counted(mesh.cores(), "emulated core") : std::string());
  if (!replicas_known) return text + "; Replicas: as planned";
  return text + "; Replicas: " + std::to_string(mesh.replicas) + " (" + counted(mesh.cores_per_replica(), "core") +
         " each)";
}

std::vector<std::string> device_warnings(const Program& program, const OpTable& ops, const Device& device,
                                         const Feed& feed) {
  std::vector<std::string> warnings;
  const TpuSpec* tpu = device.tpu();
  if (tpu == nullptr) return warnings;
  const std::string tile = std::to_string(tpu->matrix_tile);
  const ThinShare share = thinnest_share(program, ops, static_cast<double>(tpu->matrix_tile));
  if (share.thin > 0)
    warnings.push_back("a core's share is too thin for the " + tile + " x " + tile + " matrix unit in " +
                       std::to_string(share.thin) + " of " + std::to_string(share.all) + " products: " + share.layer +
                       " has " + fixed_text(share.rows, 0) + " rows on a core, a full unit takes " + tile +
                       "; cut over fewer cores, or give {thinnest-slab} or a larger batch");
  try {
    const StepPrice price = device.price(program, ops, feed);
    if (price.feed_s > price.device_s)
      warnings.push_back("input is slower than the step on " + device.name() + ": its hosts bring the samples in " +
                         fixed_text(1e3 * price.feed_s, 1) + " ms, its cores take " +
                         fixed_text(1e3 * price.device_s, 1) + " ms");
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::kConfig) throw;
    warnings.push_back(std::string("the step has no price on ") + device.name() + ": " + e.what());
  }
  return warnings;
}

}  // namespace voxshard
