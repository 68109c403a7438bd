#include "apps/ranks.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <string_view>

#include "io/files/content_hash.h"
#include "io/files/now_reading.h"
#include "io/files/standard_streams.h"
#include "io/files/structured_text.h"
#include "libcore/base/cpu.h"
#include "libcore/base/parallel.h"
#include "libcore/base/stop.h"
#include "libcore/base/text.h"
#include "libcore/ranks/alike.h"
#include "libcore/ranks/mpi.h"
#include "libcore/ranks/texts.h"
#include "pipelines/training/run_identity.h"

namespace voxshard {
namespace {

constexpr std::string_view kStopCode = "E_STOPPED";

std::string hash_of(const std::string& path) {
  try {
    return file_hash(path);
  } catch (const Error&) {
    return "not readable";  // reported when it is read
  }
}

/// Returns the hash of a config file; its size is bounded while reading.
std::string hash_of_config(const std::string& path) {
  try {
    return content_hash(read_text({.path = path, .kind = ErrorKind::kConfig, .limits = kConfigLimits}));
  } catch (const Error&) {
    return "not readable";  // reported when it is read
  }
}

Facts facts_of_rank(const std::vector<std::string>& words) {
  Facts facts;
  const auto machine = machine_json();
  for (const auto& [name, value] : machine.items())
    if (name != "processor")
      facts.emplace_back(name, value.get<std::string>());  // the same instruction set from another vendor is accepted
  facts.emplace_back("processor features", joined(cpu_features(), " "));
  facts.emplace_back("compiler", "g++ " __VERSION__);
  facts.emplace_back("MPI", mpi_library());
  facts.emplace_back("build", hash_of("/proc/self/exe"));
  facts.emplace_back("the number of words", std::to_string(words.size()));
  for (std::size_t i = 0; i < words.size(); ++i) facts.emplace_back("word " + std::to_string(i + 1), words[i]);
  const std::string config = config_path(words);
  facts.emplace_back("the content of --config", config.empty() ? "not given" : hash_of_config(config));
  return facts;
}

/// True for an error that may concern one rank only. Errors of options and plans concern all ranks, whichever found
/// them first.
bool is_of_one_rank(const Error& error) { return !is_of_all_ranks(error.kind()) && !tells_of_stop(error); }

int exit_code_from(const std::string& text) {
  constexpr int kMost = 255;
  int code = -1;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), code);
  if (wrong != std::errc() || end != text.data() + text.size() || code < 0 || code > kMost)
    throw Error(ErrorKind::kInternal, "[ranks] rank 0 said \"" + text.substr(0, 80) +
                                          "\" in place of its exit code; report this with the command");
  return code;
}

/// Returns the processors that this process may use, as numbered by the system, and their host.
Processors own_processors() {
  Processors own;
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) == 0) own.host = host.data();
  cpu_set_t set;
  const bool known = ::sched_getaffinity(0, sizeof set, &set) == 0;
  for (int cpu = 0; cpu < (known ? CPU_SETSIZE : hardware_workers()); ++cpu)
    if (!known || CPU_ISSET(cpu, &set)) own.numbers.insert(cpu);
  return own;
}

}  // namespace

int share_of_processors(const std::vector<Processors>& ranks, std::size_t rank) {
  const Processors& own = ranks.at(rank);
  const auto shares = std::ranges::count_if(ranks, [&](const Processors& other) {
    return other.host == own.host &&
           std::ranges::any_of(other.numbers, [&](int number) { return own.numbers.contains(number); });
  });
  return static_cast<int>(std::max<std::int64_t>(1, std::ssize(own.numbers) / std::max<std::int64_t>(1, shares)));
}

int usable_workers(Transport& transport) {
  if (transport.ranks() == 1) return hardware_workers();
  const Processors own = own_processors();
  const nlohmann::json said = {{"host", own.host}, {"numbers", own.numbers}};
  constexpr auto kReplace = nlohmann::json::error_handler_t::replace;
  const std::vector<std::string> texts = gather_texts(transport, said.dump(-1, ' ', false, kReplace));
  std::vector<Processors> ranks;
  for (const std::string& text : unpack_texts(broadcast_text(transport, pack_texts(texts)))) {
    const nlohmann::json json = parse_json(text, {.kind = ErrorKind::kInternal, .tag = "[ranks] "});
    ranks.push_back({.host = json.at("host"), .numbers = json.at("numbers")});
  }
  return share_of_processors(ranks, static_cast<std::size_t>(transport.rank()));
}

int as_rank(Transport& transport, const std::vector<std::string>& words, const std::function<int()>& body) {
  if (transport.ranks() == 1) return body();
  int code = 0;
  try {
    run_as_rank(transport, [&] {
      if (transport.rank() > 0) note_crashes(mute_standard_streams());
      require_alike(transport, facts_of_rank(words));
      try {
        code = body();
      } catch (const Stopped&) {
        throw Error(ErrorKind::kInternal, kStopCode.data(), "interrupted");
      }
      code = exit_code_from(broadcast_text(transport, std::to_string(code), kMostWordBytes));
    });
  } catch (const RankFailed&) {
    throw;
  } catch (Error& error) {
    if (is_of_one_rank(error)) error.add_context(transport.name(transport.rank()));
    throw;
  }
  return code;
}

bool tells_of_stop(const Error& error) { return error.code() == kStopCode; }

void require_one_rank(const Transport& transport, const std::string& command) {
  if (transport.ranks() > 1)
    throw Error(ErrorKind::kUsage, "[ranks] " + command + " is the work of one process, but " +
                                       std::to_string(transport.ranks()) +
                                       " ranks were started; start it without mpirun, or as one rank");
}

std::string config_path(const std::vector<std::string>& words) {
  std::string path;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--config" && i + 1 < words.size()) path = words[i + 1];
    if (words[i].starts_with("--config=")) path = words[i].substr(9);
  }
  return path;
}

}  // namespace voxshard
