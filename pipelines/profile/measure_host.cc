#include "pipelines/profile/measure_host.h"

#include <ctime>

#include <algorithm>
#include <cmath>
#include <limits>

#include "libcore/base/parallel.h"
#include "libcore/kernels/conv.h"
#include "libcore/ops/op_table.h"
#include "pipelines/profile/host_samples.h"
#include "pipelines/profile/measure_engine.h"

namespace voxshard {
namespace {

double thread_seconds() {
  timespec t{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// Runs probes on every worker at once (or on one), each in its own memory.
class Bench {
 public:
  explicit Bench(const MeasureOptions& options) : options_(options), pool_(options.threads) {
    memory_.resize(options.threads);
  }

  WorkerPool& pool() { return pool_; }

  /// Returns the seconds per call of one worker, mean over the workers; `alone`: only one worker runs.
  double seconds(const Probe& probe, bool alone = false) {
    reserve(probe.need);
    std::vector<double> took(memory_.size(), 0.0);
    pool_.run_on_all([&](int worker) {
      if (alone && worker > 0) return;
      const auto w = static_cast<std::size_t>(worker);
      if (probe.pack) probe.pack(*memory_[w]);
      const double start = thread_seconds();
      probe.run(*memory_[w]);  // warm-up: touches the memory and lets the library initialise
      const double first = thread_seconds() - start;
      const int calls = static_cast<int>(std::clamp(options_.call_seconds / std::max(first, 1e-7), 1.0, 2000.0));
      const double again = thread_seconds();
      for (int i = 0; i < calls; ++i) probe.run(*memory_[w]);
      took[w] = (thread_seconds() - again) / calls;
    });
    double sum = 0;
    for (double t : took) sum += t;
    return sum / static_cast<double>(alone ? 1 : took.size());
  }

  double pack_seconds(const Probe& probe) {
    reserve(probe.need);
    probe.pack(*memory_[0]);
    const double start = thread_seconds();
    for (int i = 0; i < 4; ++i) probe.pack(*memory_[0]);
    return (thread_seconds() - start) / 4;
  }

 private:
  void reserve(const ProbeMemory::Need& need) {
    ProbeMemory::Need wider = reserved_;
    wider.widen(need);
    if (memory_[0] != nullptr && wider.numbers_bytes == reserved_.numbers_bytes &&
        wider.zeros_bytes == reserved_.zeros_bytes && wider.scratch_bytes == reserved_.scratch_bytes)
      return;
    reserved_ = wider;
    for (auto& memory : memory_) memory.reset();
    pool_.run_on_all([&](int w) { memory_[w] = std::make_unique<ProbeMemory>(reserved_); });
  }

  MeasureOptions options_;
  WorkerPool pool_;
  ProbeMemory::Need reserved_;
  std::vector<std::unique_ptr<ProbeMemory>> memory_;
};

double amount(const RateTable& table, const Work& work) { return table.unit == "flop/s" ? work.flops : work.bytes; }

/// Returns every point of a table, in the order of its values.
std::vector<HostSamples::Point> points_of(const RateTable& table) {
  std::vector<HostSamples::Point> points = {HostSamples::Point{}};
  for (std::size_t a = 0; a < table.axes.size(); ++a) {
    std::vector<HostSamples::Point> finer;
    for (const auto& point : points)
      for (double value : table.axes[a].points) {
        finer.push_back(point);
        finer.back()[a] = value;
      }
    points = std::move(finer);
  }
  return points;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Fills missing points: one that was too costly gets the rate of the next smaller one along the last axis that has
/// one; then one that its kernel does not support gets that of the next larger one.
void fill_gaps(RateTable& table) {
  for (const bool upward : {true, false})
    for (std::size_t n = 0; n < table.values.size(); ++n) {
      const std::size_t i = upward ? n : table.values.size() - 1 - n;
      std::size_t stride = 1;
      for (std::size_t a = table.axes.size(); a-- > 0 && table.values[i] == 0;) {
        const std::size_t count = table.axes[a].points.size();
        if (upward && i / stride % count > 0) table.values[i] = table.values[i - stride];
        if (!upward && i / stride % count + 1 < count) table.values[i] = table.values[i + stride];
        stride *= count;
      }
    }
  for (double value : table.values) ensure(value > 0, "some point of a table was measured");
}

void measure_tables(Bench& bench, std::vector<HostSamples>& samples, int passes, Progress& progress) {
  std::vector<std::vector<std::vector<double>>> rates(samples.size());
  for (int pass = 0; pass < passes; ++pass) {
    for (std::size_t s = 0; s < samples.size(); ++s) {
      const auto points = points_of(samples[s].table);
      rates[s].resize(points.size());
      for (std::size_t i = 0; i < points.size(); ++i) {
        const auto probe = samples[s].use(points[i]);
        if (probe) rates[s][i].push_back(amount(samples[s].table, probe->work) / bench.seconds(*probe));
      }
      throw_if_stopped(progress);
      progress.update("measure", static_cast<std::int64_t>(static_cast<std::size_t>(pass) * samples.size() + s + 1),
                      static_cast<std::int64_t>(static_cast<std::size_t>(passes) * samples.size()),
                      samples[s].table.op + " " + dtype_name(samples[s].table.stored));
    }
  }
  for (std::size_t s = 0; s < samples.size(); ++s) {
    for (const auto& values : rates[s]) samples[s].table.values.push_back(values.empty() ? 0 : median(values));
    fill_gaps(samples[s].table);
  }
}

/// Measures the speed-up of one worker while the others rest: the median over a few samples of each kind.
void measure_alone(Bench& bench, const std::vector<HostSamples>& samples, HostRates& rates) {
  std::vector<double> compute, memory;
  for (const HostSamples& s : samples) {
    const bool is_compute = s.table.unit == "flop/s";
    if (s.table.stored != DType::kF32 ||
        (is_compute ? s.table.window.taps != 27 : s.table.op != "add" && s.table.op != "norm_apply"))
      continue;
    const auto points = points_of(s.table);
    const auto probe = s.use(is_compute ? points[points.size() / 2] : points.back());
    if (!probe) continue;
    for (int pass = 0; pass < 3; ++pass)
      (is_compute ? compute : memory).push_back(bench.seconds(*probe) / bench.seconds(*probe, true));
  }
  rates.alone_compute = compute.empty() ? 1 : median(compute);
  rates.alone_memory = memory.empty() ? 1 : median(memory);
}

/// Measures the bytes of weights that a worker reorders per second for the kernel of `table`.
RateTable measure_pack(Bench& bench, const RateTable& table) {
  const Window window{{3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}};
  const OpDef& conv = op_table().at(table.op);
  const Probe probe =
      op_probe(conv, conv.sample.products({table.stored, window, 64, 64, 48, 512, table.window.kernel}));
  std::vector<double> rates;
  for (int i = 0; i < 5; ++i) rates.push_back(probe.pack_bytes / bench.pack_seconds(probe));
  RateTable pack{.op = "pack",
                 .stored = table.stored,
                 .unit = "byte/s",
                 .how = "a kernel's own reordering; processor time, median of 5",
                 .values = {median(rates)}};
  pack.window.kernel = table.window.kernel;
  return pack;
}

}  // namespace

HostRates measure_host(const MeasureOptions& options, Progress& progress) {
  HostRates rates{.native_bf16 = cpu_has_native_bf16(), .threads = options.threads};
  Bench bench(options);
  std::vector<HostSamples> samples =
      host_samples(op_table(), {.quick = options.quick, .most_flops = options.most_flops});
  measure_tables(bench, samples, options.quick ? 2 : 3, progress);
  measure_alone(bench, samples, rates);
  std::vector<RateTable> packs;
  for (HostSamples& s : samples) {
    if (s.table.op == "conv" && s.table.window.taps == 27) packs.push_back(measure_pack(bench, s.table));
    rates.tables.push_back(std::move(s.table));
  }
  for (RateTable& pack : packs) rates.tables.push_back(std::move(pack));
  measure_engine(bench.pool(), rates);
  return rates;
}

}  // namespace voxshard
