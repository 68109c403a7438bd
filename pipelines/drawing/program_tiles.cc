#include "pipelines/drawing/program_tiles.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "libcore/base/spelling.h"
#include "libcore/base/text.h"
#include "pipelines/drawing/tile_planes.h"

namespace voxshard {
namespace {

constexpr int kMostKeys = 64;

bool is_cut_along_space(const Program& program, ValueId id) {
  return !program.replicated(id) && program.graph.node(id).type.shape.axes() == program.mesh().partition.axes();
}

Dims spatial(const Shape& shape) {
  Dims extents;
  for (int a = 1; a + 1 < shape.axes(); ++a) extents.push_back(shape[a]);
  return extents;
}

Dims spatial_of(const Program& program, ValueId id) { return spatial(program.graph.node(id).type.shape); }

/// Returns the tiles of the first sample, sorted by their first core.
std::vector<Tile> tiles_of(const Program& program, ValueId value) {
  const ValuePlan& plan = program.plan(value);
  std::vector<Tile> tiles;
  for (std::size_t core = 0; core < plan.own.size(); ++core) {
    const Box& own = plan.own[core];
    if (own.empty() || own.begin[0] > 0) continue;
    const Box& held = plan.held[core];
    const auto same =
        std::find_if(tiles.begin(), tiles.end(), [&](const Tile& t) { return t.own == own && t.held == held; });
    if (same != tiles.end())
      same->cores.push_back(static_cast<std::int64_t>(core));
    else
      tiles.push_back({own, held, {static_cast<std::int64_t>(core)}});
  }
  return tiles;
}

/// Returns the widest halo of any tile, summed over all axes and sides.
std::int64_t widest_halo(const Program& program, ValueId value) {
  const Dims extents = spatial_of(program, value);
  std::int64_t widest = 0;
  for (const Tile& tile : tiles_of(program, value)) {
    std::int64_t sum = 0;
    for (int a = 0; a < extents.axes(); ++a) {
      const auto [low, high] = halo(tile, a + 1, extents[a]);
      sum += low + high;
    }
    widest = std::max(widest, sum);
  }
  return widest;
}

/// Returns the forward values that are cut along space, without targets.
std::vector<ValueId> forward_values(const Program& program) {
  const Graph& graph = program.graph;
  const ValueId end = graph.backward_root == kNoValue ? graph.size() : graph.backward_root;
  std::vector<ValueId> values;
  for (ValueId id = 0; id < end; ++id) {
    const Node& node = graph.node(id);
    const bool wanted =
        node.role == Role::kOp || (node.role == Role::kInput && std::holds_alternative<input::Image>(node.input));
    if (wanted && is_cut_along_space(program, id)) values.push_back(id);
  }
  return values;
}

std::string size_text(const Dims& extents) {
  return joined(extents, " x ", [](std::int64_t e) { return std::to_string(e); });
}

/// Returns the parts of the network, which are the first words of the values' names, in the network's order.
std::vector<std::string> parts_of(const Program& program) {
  std::vector<std::string> parts;
  for (const ValueId id : forward_values(program)) {
    const std::string& name = program.graph.node(id).name;
    const std::string part = name.substr(0, name.find('/'));
    if (std::find(parts.begin(), parts.end(), part) == parts.end()) parts.push_back(part);
  }
  return parts;
}

[[noreturn]] void refuse(const Program& program, const std::string& level, const std::string& why) {
  const auto levels = drawn_levels(program);
  std::string choices;
  for (std::size_t i = 0; i < levels.size(); ++i)
    choices += (i > 0 ? ", " : "") + std::to_string(i) + " (" + size_text(levels[i].extents) + ")";
  const auto parts = parts_of(program);
  std::vector<std::string> names;
  for (const Node& node : program.graph.nodes()) names.push_back(node.name);
  names.insert(names.end(), parts.begin(), parts.end());
  const auto likely = likely_name(level, names);
  throw Error(ErrorKind::kConfig, "[explain] {level} \"" + level + "\" " + why +
                                      (likely && *likely != level ? "; did you mean " + *likely + "?" : "") +
                                      "; expected a level: " + choices + "; or a part of the network: " +
                                      joined(parts, ", ") + "; or a layer as {stage} program names them");
}

/// Returns "0-3,6,9": three or more consecutive cores as a range; for many ranges the first ones, "15,31,... 42 in
/// all".
std::string cores_text(const std::vector<std::int64_t>& cores) {
  constexpr int kMostRanges = 8;
  std::string text;
  int ranges = 0;
  for (std::size_t i = 0, next = 0; i < cores.size(); i = next) {
    if (ranges++ == kMostRanges) return text + ",... " + std::to_string(cores.size()) + " in all";
    for (next = i + 1; next < cores.size() && cores[next] == cores[next - 1] + 1;) ++next;
    if (next - i == 2) next = i + 1;
    text += (i > 0 ? "," : "") + std::to_string(cores[i]);
    if (next - i > 2) text += "-" + std::to_string(cores[next - 1]);
  }
  return text;
}

/// Returns the rows and columns of a box.
Box plane_of(const Box& box, int rows, int columns) {
  return {{box.begin[rows + 1], box.begin[columns + 1]}, {box.extent[rows + 1], box.extent[columns + 1]}};
}

TileView view_of(const std::vector<Tile>& tiles, const Dims& level, const DrawnSample& sample, const Dims& padded,
                 const SamplePlane& plane) {
  const int fixed = plane.fixed_axis;
  const bool image = fixed < 0;
  const int rows = image || fixed > 0 ? 0 : 1, columns = image ? 1 : fixed == 2 ? 1 : 2;
  const std::int64_t at = plane.at;
  TileView view{.caption = {},
                .extent = {level[rows], level[columns]},
                .rgb = sample.view({fixed, at}, padded, level),
                .upwards = fixed > 0,
                .tiles = {}};
  constexpr const char* kPlanes[] = {"axial", "coronal", "sagittal"};
  constexpr const char* kAxes[] = {"D", "H", "W"};
  const int first = 3 - level.axes();
  if (!image)
    view.caption = std::string(kPlanes[fixed]) + ", " + kAxes[fixed] + " " + std::to_string(at) + " of " +
                   std::to_string(level[fixed]) + ": ";
  view.caption +=
      std::string(kAxes[rows + first]) + (fixed > 0 ? " up, " : " down, ") + kAxes[columns + first] + " to the right";
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    const Tile& tile = tiles[i];
    if (!image && (at < tile.own.begin[fixed + 1] || at >= tile.own.end(fixed + 1))) continue;
    view.tiles.push_back({.name = cores_text(tile.cores),
                          .colour = static_cast<int>(i) + 1,
                          .own = plane_of(tile.own, rows, columns),
                          .held = plane_of(tile.held, rows, columns)});
  }
  return view;
}

std::string range_text(const Box& box) {
  std::string text;
  for (int a = 1; a + 1 < box.axes(); ++a)
    text += (a > 1 ? " x " : "") + std::to_string(box.begin[a]) + ":" + std::to_string(box.end(a));
  return text;
}

std::string halo_text(const Tile& tile, const Dims& level) {
  std::string text;
  const char* const axes[] = {"D", "H", "W"};
  for (int a = 0; a < level.axes(); ++a) {
    const auto [low, high] = halo(tile, a + 1, level[a]);
    if (low + high > 0)
      text += std::string(text.empty() ? "" : ", ") + axes[a + 3 - level.axes()] + " " + std::to_string(low) + " + " +
              std::to_string(high);
  }
  return text.empty() ? "no halo" : "halo " + text;
}

/// Describes the exchange between cores for a value.
std::string exchange_text(const Program& program, ValueId value) {
  for (const Instruction& instruction : program.instructions) {
    if (instruction.kind != InstructionKind::kExchange || instruction.value != value) continue;
    std::int64_t elements = 0;
    for (const Copy& copy : instruction.copies) elements += copy.box.count();
    const std::int64_t size = dtype_bytes(program.graph.node(value).type.dtype);
    return "one exchange of " + std::to_string(instruction.copies.size()) + " copies, " + bytes_text(elements * size);
  }
  return "nothing is exchanged";
}

std::vector<std::string> lines_of(const Program& program, ValueId value, const std::vector<Tile>& tiles) {
  const Mesh& mesh = program.mesh();
  const Dims level = spatial_of(program, value);
  Dims largest = Dims::filled(level.axes(), 0), smallest = level, low = largest, high = largest;
  std::set<std::int64_t> busy;
  for (const Tile& tile : tiles) {
    busy.insert(tile.cores.begin(), tile.cores.end());
    for (int a = 0; a < level.axes(); ++a) {
      largest[a] = std::max(largest[a], tile.own.extent[a + 1]);
      smallest[a] = std::min(smallest[a], tile.own.extent[a + 1]);
      const auto [below, above] = halo(tile, a + 1, level[a]);
      low[a] = std::max(low[a], below), high[a] = std::max(high[a], above);
    }
  }
  const Node& node = program.graph.node(value);
  std::vector<std::string> lines = {
      "grid " + to_string(mesh.partition) + ", " + std::to_string(mesh.cores_per_replica()) + " cores a replica, " +
          std::to_string(mesh.replicas) +
          (mesh.replicas == 1 ? " replica; " : " replicas, drawn is the first sample; ") +
          to_string(program.plan(value).reason, program.graph),
      "size " + size_text(level) + ", " + std::to_string(node.type.shape.back()) +
          (node.type.shape.back() == 1 ? " channel " : " channels ") + dtype_name(node.type.dtype) + "; tiles " +
          size_text(largest) + (largest == smallest ? "" : ", the smallest " + size_text(smallest)),
      "halo below " + size_text(low) + ", above " + size_text(high) + "; " + exchange_text(program, value),
      "outlined: what a core owns; striped in its colour: what it holds of others (voxels; at least 6 pixels are "
      "drawn), outside: zeros"};
  std::vector<std::int64_t> idle;
  for (std::int64_t core = 0; core < mesh.cores_per_replica(); ++core)
    if (!busy.contains(core)) idle.push_back(core);
  if (!idle.empty()) lines.push_back("without a part of it: core " + cores_text(idle));
  return lines;
}

}  // namespace

std::vector<DrawnLevel> drawn_levels(const Program& program) {
  std::vector<DrawnLevel> levels;
  std::map<Dims, std::pair<std::size_t, std::int64_t>> known;  // place in levels, halo
  for (const ValueId id : forward_values(program)) {
    const Dims extents = spatial_of(program, id);
    const std::int64_t width = widest_halo(program, id);
    const auto [at, fresh] = known.insert({extents, {levels.size(), width}});
    if (fresh)
      levels.push_back({id, extents});
    else if (width > at->second.second)
      at->second.second = width, levels[at->second.first].value = id;
  }
  std::stable_sort(levels.begin(), levels.end(),
                   [](const auto& a, const auto& b) { return element_count(a.extents) > element_count(b.extents); });
  return levels;
}

ValueId drawn_value(const Program& program, const std::string& level) {
  const auto levels = drawn_levels(program);
  if (levels.empty())
    throw Error(ErrorKind::kConfig, "[explain] nothing of this model is cut along space; choose another {partition}");
  if (level.empty()) return levels.front().value;
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(level.data(), level.data() + level.size(), index);
  if (error == std::errc() && end == level.data() + level.size()) {
    if (index >= levels.size()) refuse(program, level, "is no level of this network");
    return levels[index].value;
  }
  if (const ValueId named = program.graph.find(level); named != kNoValue) {
    if (!is_cut_along_space(program, named)) refuse(program, level, "is not cut along space: there is no tile to draw");
    return named;
  }
  ValueId widest = kNoValue;
  for (const ValueId id : forward_values(program))
    if (program.graph.node(id).name.starts_with(level + "/") &&
        (widest == kNoValue || widest_halo(program, id) > widest_halo(program, widest)))
      widest = id;
  if (widest == kNoValue) refuse(program, level, "is no level and no layer of this network");
  return widest;
}

TileSheet tile_sheet(const Program& program, ValueId value, const DrawnSample& sample, const Dims& padded) {
  const Dims level = spatial_of(program, value);
  const auto tiles = tiles_of(program, value);
  TileSheet sheet{.title = program.graph.node(value).name + " of " + sample.name() + ", " + size_text(level) +
                           " over " + to_string(program.mesh().partition),
                  .views = {},
                  .lines = lines_of(program, value, tiles),
                  .key = {}};
  if (level.axes() == 2) {
    sheet.views.push_back(view_of(tiles, level, sample, padded, {.fixed_axis = -1, .at = 0}));
  } else {
    const HaloPlanes drawn = planes_of(tiles, level);
    for (const SamplePlane& plane : drawn.planes) sheet.views.push_back(view_of(tiles, level, sample, padded, plane));
    if (drawn.unseen > 0)
      sheet.lines.push_back("of the halos " + std::to_string(drawn.unseen) + " are seen in no plane that is drawn");
  }
  for (int i = 0; i < static_cast<int>(tiles.size()) && i < kMostKeys; ++i) {
    const Tile& tile = tiles[i];
    sheet.key.push_back(
        {i + 1, "core " + cores_text(tile.cores) + ": " + range_text(tile.own) + ", " + halo_text(tile, level)});
  }
  if (static_cast<int>(tiles.size()) > kMostKeys)
    sheet.lines.push_back("of " + std::to_string(tiles.size()) + " tiles the first " + std::to_string(kMostKeys) +
                          " are listed");
  return sheet;
}

nlohmann::ordered_json tiles_json(const Program& program, ValueId value) {
  using Json = nlohmann::ordered_json;
  Json json = {{"value", program.graph.node(value).name},
               {"size", to_string(spatial_of(program, value))},
               {"grid", to_string(program.mesh().partition)},
               {"tiles", Json::array()},
               {"levels", Json::array()}};
  for (const Tile& tile : tiles_of(program, value))
    json["tiles"].push_back({{"cores", tile.cores}, {"own", to_string(tile.own)}, {"held", to_string(tile.held)}});
  for (const DrawnLevel& level : drawn_levels(program))
    json["levels"].push_back({{"value", program.graph.node(level.value).name}, {"size", to_string(level.extents)}});
  return json;
}

}  // namespace voxshard
