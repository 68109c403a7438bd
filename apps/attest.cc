// voxshard attest: shows that a model still computes what it computed when its golden case was made.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>

#include "apps/command.h"
#include "apps/run_context.h"
#include "apps/setting_args.h"
#include "apps/terminal/exit_code.h"
#include "pipelines/commands/run_attest.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSetVariable = "VOXSHARD_ISA=";

/// Returns pointers to the words, with a null behind them, as exec() wants them.
std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// Runs this program with other words, limited to an instruction set; its standard output is discarded. Returns its
/// exit code. Errors: kInternal when it cannot be started or was killed.
int run_limited(std::vector<std::string> words, InstructionSet set) {
  words.insert(words.begin(), "voxshard");
  std::vector<std::string> variables = {std::string(kSetVariable) + instruction_set_name(set)};
  for (char** one = environ; *one != nullptr; ++one)
    if (!std::string_view(*one).starts_with(kSetVariable)) variables.emplace_back(*one);
  const std::vector<char*> arguments = pointers_to(words), environment = pointers_to(variables);
  posix_spawn_file_actions_t streams{};
  ::posix_spawn_file_actions_init(&streams);
  ::posix_spawn_file_actions_addopen(&streams, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int reason = ::posix_spawn(&child, "/proc/self/exe", &streams, nullptr, arguments.data(), environment.data());
  ::posix_spawn_file_actions_destroy(&streams);
  if (reason != 0)
    throw Error(ErrorKind::kInternal,
                std::string("[attest] voxshard cannot be started once more: ") + std::strerror(reason));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (!WIFEXITED(status))
    throw Error(ErrorKind::kInternal, std::string("[attest] the prediction with ") + instruction_set_name(set) +
                                          " was killed by signal " + std::to_string(WTERMSIG(status)));
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
