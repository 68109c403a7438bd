// Writes rates as JSON and parses them; refuses rates from which no price can be computed.
//
//   "task": {"value": 1.3, "unit": "us", "kind": "measured", "how": "..."}
//   "rates": [{"op": "conv", "stored": "f32", "taps": 27, "patch": false, "kernel": "library", "unit": "flop/s",
//   "kind": "measured",
//              "how": "...", "axes": {"in": [1, 4, ...], "out": [...], "row": [...], "rows": [...]}, "values": [...]}]
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "libcore/base/file_format.h"
#include "libcore/device/host/host_rates.h"

namespace voxshard {
namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

struct FigureRule {
  const char* key;
  const char* unit;
  double scale;  // unit -> s, bytes
  const char* how;
  double (*get)(const HostRates&);
  void (*set)(HostRates&, double);
  double most = 0;  // upper bound of a count, which is at least 1; 0: not a count
};

constexpr FigureRule kFigures[] = {
    {"threads", "workers", 1, "processors that this process may use",
     [](const HostRates& r) { return static_cast<double>(r.threads); },
     [](HostRates& r, double v) { r.threads = static_cast<int>(v); }, 65536},
    {"memory", "bytes", 1, "what the system or its container limit gives",
     [](const HostRates& r) { return static_cast<double>(r.memory_bytes); },
     [](HostRates& r, double v) { r.memory_bytes = static_cast<std::int64_t>(v); }, 0x1p60},
    {"task", "us", 1e-6, "a core set of tiny shards, seconds of a step less its barriers over its tasks",
     [](const HostRates& r) { return r.task_s; }, [](HostRates& r, double v) { r.task_s = v; }},
    {"barrier", "us", 1e-6, "waking all workers for nothing and waiting for them",
     [](const HostRates& r) { return r.barrier_s; }, [](HostRates& r, double v) { r.barrier_s = v; }},
    {"alone_compute", "ratio", 1, "convolutions on one worker over the same on all at once, speed of a worker",
     [](const HostRates& r) { return r.alone_compute; }, [](HostRates& r, double v) { r.alone_compute = v; }},
    {"alone_memory", "ratio", 1, "ops bound by memory on one worker over the same on all at once, speed of a worker",
     [](const HostRates& r) { return r.alone_memory; }, [](HostRates& r, double v) { r.alone_memory = v; }},
};

class Reader {
 public:
  explicit Reader(std::string name) : name_(std::move(name)) {}

  Error wrong(const std::string& key, const std::string& what) const {
    return Error(ErrorKind::kConfig, "[device] " + name_ + ": " + key + ": " + what + "; run voxshard doctor again");
  }
  const Json& at(const Json& json, const std::string& where, const char* key) const {
    if (!json.is_object() || !json.contains(key)) throw wrong(where + key, "is missing");
    return json.at(key);
  }
  std::string text(const Json& json, const std::string& where, const char* key) const {
    const Json& value = at(json, where, key);
    if (!value.is_string()) throw wrong(where + key, "should be text");
    return value.get<std::string>();
  }
  bool flag(const Json& json, const std::string& where, const char* key) const {
    const Json& value = at(json, where, key);
    if (!value.is_boolean()) throw wrong(where + key, "should be true or false");
    return value.get<bool>();
  }
  double positive(const Json& value, const std::string& key) const {
    if (!value.is_number()) throw wrong(key, "should be a number");
    const double number = value.get<double>();
    if (!(number > 0) || !std::isfinite(number)) throw wrong(key, "should be above 0, got " + value.dump());
    return number;
  }
  double figure(const Json& json, const FigureRule& rule) const {
    const Json& figure = at(json, "", rule.key);
    const std::string where = std::string(rule.key) + ".";
    if (text(figure, where, "unit") != rule.unit)
      throw wrong(where + "unit", std::string("should be \"") + rule.unit + "\"");
    const double value = positive(at(figure, where, "value"), where + "value");
    if (rule.most > 0 && !(value >= 1 && value <= rule.most))
      throw wrong(where + "value", "should be from 1 to " + std::to_string(static_cast<std::int64_t>(rule.most)));
    return value * rule.scale;
  }
  RateTable table(const Json& json, const std::string& where) const {
    RateTable t{.op = text(json, where, "op"), .stored = dtype(json, where)};
    t.window = {.taps = whole(json, where, "taps"), .patch = flag(json, where, "patch"), .kernel = kernel(json, where)};
    t.unit = text(json, where, "unit");
    if (t.unit != "flop/s" && t.unit != "byte/s" && t.unit != "element/s")
      throw wrong(where + "unit", "should be flop/s, byte/s or element/s, got \"" + t.unit + "\"");
    if (t.op.empty() || (t.unit == "flop/s") != (t.window.taps > 0))
      throw wrong(where + "op",
                  "\"" + t.op + "\" has a rate in " + t.unit + " with " + std::to_string(t.window.taps) + " taps");
    t.how = text(json, where, "how");
    std::size_t count = 1;
    for (const auto& [axis, points] : at(json, where, "axes").items()) {
      t.axes.push_back({axis, numbers(points, where + "axes." + axis)});
      for (std::size_t i = 1; i < t.axes.back().points.size(); ++i)
        if (!(t.axes.back().points[i] > t.axes.back().points[i - 1]))
          throw wrong(where + "axes." + axis, "should ascend");
      count *= t.axes.back().points.size();
    }
    if (t.axes.size() != axis_names(t).size())
      throw wrong(where + "axes", "should be " + std::to_string(axis_names(t).size()));
    order(t, where);
    t.values = numbers(at(json, where, "values"), where + "values");
    if (t.values.size() != count)
      throw wrong(where + "values",
                  "should be " + std::to_string(count) + " numbers, got " + std::to_string(t.values.size()));
    return t;
  }

 private:
  /// The order of the axes of the values (nlohmann::json sorts keys, so the file does not keep it).
  static std::vector<std::string> axis_names(const RateTable& t) {
    if (t.window.taps > 0) return {"in", "out", "row", "rows"};
    if (t.unit == "element/s" || t.op == "pack" || t.op == "feed") return {};
    return {"channels", "bytes"};
  }
  void order(RateTable& t, const std::string& where) const {
    std::vector<RateTable::Axis> sorted;
    for (const std::string& name : axis_names(t)) {
      for (const RateTable::Axis& axis : t.axes)
        if (axis.name == name) sorted.push_back(axis);
      if (sorted.empty() || sorted.back().name != name) throw wrong(where + "axes." + name, "is missing");
    }
    t.axes = std::move(sorted);
  }
  std::vector<double> numbers(const Json& json, const std::string& key) const {
    if (!json.is_array() || json.empty()) throw wrong(key, "should be a list of numbers");
    std::vector<double> list;
    for (const Json& value : json) list.push_back(positive(value, key));
    return list;
  }
  int whole(const Json& json, const std::string& where, const char* key) const {
    const Json& value = at(json, where, key);
    if (!value.is_number_integer() || value.get<std::int64_t>() < 0 || value.get<std::int64_t>() > 1 << 20)
      throw wrong(where + key, "should be a whole number");
    return value.get<int>();
  }
  ConvKernel kernel(const Json& json, const std::string& where) const {
    const std::string name = text(json, where, "kernel");
    for (std::size_t i = 0; i < std::size(kConvKernelNames); ++i)
      if (name == kConvKernelNames[i]) return static_cast<ConvKernel>(i);
    throw wrong(where + "kernel", "\"" + name + "\" is not known");
  }
  DType dtype(const Json& json, const std::string& where) const {
    const std::string name = text(json, where, "stored");
    for (DType type : {DType::kF32, DType::kBF16, DType::kF64})
      if (name == dtype_name(type)) return type;
    throw wrong(where + "stored", "should be f32, bf16 or f64, got \"" + name + "\"");
  }

  std::string name_;
};

/// Rounds to four digits, more than the measurement has.
double rounded(double value) {
  const double unit = std::pow(10.0, std::floor(std::log10(value)) - 3);
  return std::round(value / unit) * unit;
}

}  // namespace

OrderedJson to_json(const HostRates& rates) {
  OrderedJson json = {{"measured_host", true}, {"format", kFileFormat},
                      {"cpu", rates.cpu},      {"instruction_set", rates.instruction_set},
                      {"how", rates.how},      {"native_bf16", rates.native_bf16}};
  for (const FigureRule& rule : kFigures)
    json[rule.key] = {
        {"value", rule.get(rates) / rule.scale}, {"unit", rule.unit}, {"kind", "measured"}, {"how", rule.how}};
  json["rates"] = OrderedJson::array();
  for (const RateTable& t : rates.tables) {
    OrderedJson axes = OrderedJson::object(), values = OrderedJson::array();
    for (const RateTable::Axis& axis : t.axes) axes[axis.name] = axis.points;
    for (double value : t.values) values.push_back(rounded(value));
    json["rates"].push_back({{"op", t.op},
                             {"stored", dtype_name(t.stored)},
                             {"taps", t.window.taps},
                             {"patch", t.window.patch},
                             {"kernel", kConvKernelNames[static_cast<std::size_t>(t.window.kernel)]},
                             {"unit", t.unit},
                             {"kind", "measured"},
                             {"how", t.how},
                             {"axes", axes},
                             {"values", values}});
  }
  return json;
}

HostRates host_rates_from_json(const Json& json, const std::string& name) {
  const Reader reader(name);
  HostRates rates;
  if (!reader.flag(json, "", "measured_host")) throw reader.wrong("measured_host", "should be true");
  if (const std::string problem = format_problem(json.contains("format") ? reader.text(json, "", "format") : "");
      !problem.empty())
    throw reader.wrong("format", problem);
  rates.cpu = reader.text(json, "", "cpu");
  rates.instruction_set = reader.text(json, "", "instruction_set");
  rates.how = reader.text(json, "", "how");
  rates.native_bf16 = reader.flag(json, "", "native_bf16");
  for (const FigureRule& rule : kFigures) rule.set(rates, reader.figure(json, rule));
  const Json& tables = reader.at(json, "", "rates");
  if (!tables.is_array() || tables.empty()) throw reader.wrong("rates", "should be a list");
  for (std::size_t i = 0; i < tables.size(); ++i)
    rates.tables.push_back(reader.table(tables[i], "rates[" + std::to_string(i) + "]."));
  for (const char* work : kHostWork)
    if (std::none_of(rates.tables.begin(), rates.tables.end(), [&](const RateTable& t) { return t.op == work; }))
      throw reader.wrong("rates", std::string("has no \"") + work + "\"");
  return rates;
}

}  // namespace voxshard
