#include "apps/ranks.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "io/files/content_hash.h"
#include "io/files/now_reading.h"
#include "libcore/base/cpu.h"
#include "libcore/base/parallel.h"
#include "libcore/base/stop.h"
#include "libcore/base/text.h"
#include "libcore/runtime/alike.h"
#include "libcore/runtime/mpi.h"
#include "libcore/runtime/texts.h"
#include "pipelines/training/run_identity.h"

namespace voxshard {
namespace {

constexpr std::string_view kStopCode = "E_STOPPED";

std::string hash_of_config(const std::vector<std::string>& words) {
  const std::string path = config_path(words);
  if (path.empty()) return "not given";
  try {
    return file_hash(path);
  } catch (const Error&) {
    return "not readable";  // its reader says why
  }
}

Facts facts_of_rank(const std::vector<std::string>& words) {
  Facts facts;
  const auto machine = machine_json();
  for (const auto& [name, value] : machine.items())
    if (name != "processor")
      facts.emplace_back(name, value.get<std::string>());  // the same set of another maker will do
  facts.emplace_back("processor features", joined(cpu_features(), " "));
  facts.emplace_back("compiler", "g++ " __VERSION__);
  facts.emplace_back("MPI", mpi_library());
  for (std::size_t i = 0; i < words.size(); ++i) facts.emplace_back("word " + std::to_string(i + 1), words[i]);
  facts.emplace_back("the content of --config", hash_of_config(words));
  return facts;
}

/// An error of rank 0 that need not be one of all: those of options and plans are.
bool is_of_one_rank(const Error& error) {
  return error.kind() != ErrorKind::kUsage && error.kind() != ErrorKind::kConfig && !tells_of_stop(error);
}

/// From now on nothing that this process writes to its standard output and standard error is seen: neither texts, nor
/// what a signal's handler or a library says. Returns where standard error led, for the last words of a crash; -1 when
/// there is none.
int mute() {
  const int errors = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere < 0) throw Error(ErrorKind::kOutput, "[output] cannot open /dev/null; check the system's devices");
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) ::dup2(nowhere, stream);
  ::close(nowhere);
  return errors;
}

}  // namespace

int usable_workers(const Transport& transport) { return std::max(1, hardware_workers() / transport.ranks_here()); }

int as_rank(Transport& transport, const std::vector<std::string>& words, const std::function<int()>& body) {
  if (transport.ranks() == 1) return body();
  int code = 0;
  try {
    run_as_rank(transport, [&] {
      if (transport.rank() > 0) note_crashes(mute());
      require_alike(transport, facts_of_rank(words));
      try {
        code = body();
      } catch (const Stopped&) {
        throw Error(ErrorKind::kInternal, kStopCode.data(), "interrupted");
      }
      code = std::stoi(text_of_first(transport, std::to_string(code)));
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
