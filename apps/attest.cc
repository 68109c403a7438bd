// voxshard attest: shows that a model still computes what it computed when its golden case was made.
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "apps/command.h"
#include "apps/run_context.h"
#include "apps/setting_args.h"
#include "apps/terminal/exit_code.h"
#include "apps/terminal/stop_signals.h"
#include "io/files/standard_streams.h"
#include "pipelines/commands/run_attest.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSetVariable = "VOXSHARD_ISA=";
constexpr int kNotStarted = 127;  // no exit code of voxshard (exit_code.h)

/// Returns pointers to the words, with a null behind them, as exec() wants them.
std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// Becomes this program with other words in a child of the process `parent`. Calls nothing that takes a lock, which
/// another thread of the parent may have held.
///   output   becomes its standard output
///   signals  the mask of signals to run with; all are blocked here, so that no handler of the parent runs
[[noreturn]] void become(char* const* words, char* const* variables, pid_t parent, const Descriptor& output,
                         const sigset_t& signals) {
  for (const StopSignal& signal : kStopSignals) {
    struct sigaction now {};
    if (::sigaction(signal.number, nullptr, &now) == 0 && now.sa_handler != SIG_IGN)
      std::signal(signal.number, SIG_DFL);
  }
  // The folder of the answers goes with the parent, also with one that was killed: nobody could use them any more.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent || ::dup2(output.number(), STDOUT_FILENO) < 0) _exit(kNotStarted);
  ::sigprocmask(SIG_SETMASK, &signals, nullptr);
  ::execve("/proc/self/exe", words, variables);
  _exit(kNotStarted);
}

/// Runs this program with other words, limited to an instruction set; its standard output is discarded, and it ends
/// with the calling thread. Returns its exit code. Errors: kInternal when it cannot be started or was killed.
int run_limited(std::vector<std::string> words, InstructionSet set) {
  words.insert(words.begin(), "voxshard");
  std::vector<std::string> variables = {std::string(kSetVariable) + instruction_set_name(set)};
  for (char** one = environ; *one != nullptr; ++one)
    if (!std::string_view(*one).starts_with(kSetVariable)) variables.emplace_back(*one);
  const std::vector<char*> arguments = pointers_to(words), environment = pointers_to(variables);
  const auto not_started = [](const std::string& reason) {
    return Error(ErrorKind::kInternal, "[attest] voxshard cannot be started once more: " + reason);
  };
  const Descriptor nowhere = open_nowhere();
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t parent = ::getpid(), child = ::fork();
  if (child == 0) become(arguments.data(), environment.data(), parent, nowhere, before);
  const int reason = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (child < 0) throw not_started(std::strerror(reason));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (!WIFEXITED(status))
    throw Error(ErrorKind::kInternal, std::string("[attest] the prediction with ") + instruction_set_name(set) +
                                          " was killed by signal " + std::to_string(WTERMSIG(status)));
  if (WEXITSTATUS(status) == kNotStarted) throw not_started("/proc/self/exe cannot be opened");
  return WEXITSTATUS(status);
}

RunCommand add(CLI::App& app) {
  auto o = std::make_shared<AttestRequest>();
  app.add_option("model", o->model, "Run folder of voxshard train, or a checkpoint file")
      ->required()
      ->type_name(kPathType);
  app.add_flag(
      "--make", o->make,
      "Make the golden case, in the folder golden beside the checkpoint: a generated input, the model's answer, "
      "and the hashes of both, of every parameter, and of the answer under each instruction set of this "
      "processor");
  app.add_flag("--replace", o->replace, "With --make: in place of the golden case that is there");
  add_weights_options(app, o->checkpoint, o->weights);
  return [o](const Context& context) {
    o->predict_as = [&](InstructionSet set, const fs::path& input, const fs::path& output) {
      const int code = run_limited({"predict", o->model, input, "-o", output, "--checkpoint", o->checkpoint,
                                    "--weights", o->weights, "--threads", std::to_string(context.threads), "--quiet"},
                                   set);
      if (code != kExitOk)
        throw Error(ErrorKind::kMismatch, std::string("[attest] the golden input cannot be predicted with ") +
                                              instruction_set_name(set) + ": exit code " + std::to_string(code));
    };
    const AttestReport report = run_attest(*o, run_context(context, {}));
    return Outcome{.json = to_json(report),
                   .text = to_text(report),
                   .exit_code = report.equal() ? kExitOk : kExitMismatch,
                   .next = report.made ? std::vector<std::string>{"attest", o->model} : std::vector<std::string>()};
  };
}

}  // namespace

Command attest_command() {
  return {
      .name = "attest",
      .summary =
          "Shows that a model still computes on this machine what it computed when its golden case was made; exit 9 "
          "when its parameters, its settings, the case or the answer differ.",
      .example =
          "voxshard attest run --make\n  "
          "voxshard attest run\n  "
          "VOXSHARD_ISA=avx2 voxshard attest run --json",
      .add = add};
}

}  // namespace voxshard
