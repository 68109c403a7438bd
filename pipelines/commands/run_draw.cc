#include "pipelines/commands/run_draw.h"

#include "io/image/image_reader.h"
#include "io/image/sheet_file.h"
#include "libcore/lower/lower.h"
#include "libcore/ops/op_table.h"
#include "pipelines/drawing/program_tiles.h"

namespace voxshard {
namespace {

Dims spatial(const Shape& extents) {
  Dims space;
  for (int a = 1; a < extents.axes(); ++a) space.push_back(extents[a]);
  return space;
}

}  // namespace

Shape extents_of(const DrawnSample& sample, const ModelSpec& spec, std::int64_t batch) {
  Shape extents = {batch};
  const std::int64_t multiple = spec.multiple();
  for (const std::int64_t extent : sample.extents()) extents.push_back((extent + multiple - 1) / multiple * multiple);
  return extents;
}

DrawReport run_draw(const DrawOptions& options) {
  require_output_file(options.file, sheet_file(), {.inputs = {image_address(options.source).file}, .option = "{draw}"});
  const ModelSpec& spec = options.spec;
  const Lowered lowered =
      lower_verified(build_graph(spec, options.extents, Phase::kTrain, spec.precision), op_table(), spec.cut, {});
  const Program& program = lowered.program;
  const ValueId value = drawn_value(program, options.level);
  const DrawnSample sample = options.sample ? *options.sample : phantom_sample(spec.spatial_axes());
  const TileSheet sheet =
      tile_sheet(program, value, sample, options.scaled ? sample.extents() : spatial(options.extents));
  const DrawnSheet drawn = draw_tiles(sheet);
  write_sheet(options.file, drawn.rgb);

  DrawReport report{.json = tiles_json(program, value), .text = options.file.string() + ": " + sheet.title + "\n"};
  report.json["drawn"] = options.file.string();
  report.json["views"] = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < drawn.views.size(); ++i) {
    const PlacedView& view = drawn.views[i];
    report.json["views"].push_back({{"caption", sheet.views[i].caption},
                                    {"left", view.left},
                                    {"top", view.top},
                                    {"row_px", view.row_px},
                                    {"column_px", view.column_px},
                                    {"upwards", view.upwards}});
  }
  for (const std::string& line : sheet.lines) report.text += "  " + line + "\n";
  report.text += "levels:";
  for (std::size_t i = 0; i < report.json["levels"].size(); ++i)
    report.text += (i > 0 ? ", " : " ") + std::to_string(i) + " " + report.json["levels"][i]["size"].get<std::string>();
  report.text += "\n";
  return report;
}

}  // namespace voxshard
