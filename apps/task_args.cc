#include "apps/task_args.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>

#include "apps/exit_code.h"
#include "apps/resume_args.h"
#include "apps/terminal/flags.h"
#include "libcore/base/spelling.h"
#include "pipelines/runs/model_spec.h"

namespace voxshard {
namespace {

/// The rows of one name, by task.
struct SharedSetting {
  std::vector<Setting> rows;
  GivenSetting given;
};

template <class Value>
void assign(const SharedSetting& shared, TaskOptions& options, const Value& value) {
  options.given.push_back(shared.given);
  for (std::size_t i = 0; i < shared.rows.size(); ++i)
    std::visit(
        [&](auto&& target) {
          using Target = std::decay_t<decltype(target)>;
          if constexpr (std::is_same_v<Target, Setting::FromText>) {
            if constexpr (std::is_same_v<Value, std::string>) {
              try {
                target(value);
              } catch (const Error& error) {  // of a task that may not be the one that runs
                if (shared.rows.size() == 1) throw;
                options.refused.push_back({shared.given.tasks[i], error});
              }
            }
          } else if constexpr (std::is_same_v<Target, std::array<double, 2>*>) {
            if constexpr (std::is_same_v<Value, std::vector<double>>) std::copy_n(value.begin(), 2, target->begin());
          } else if constexpr (std::is_same_v<Target, Value*> || std::is_same_v<Target, std::optional<Value>*>) {
            *target = value;
          }
        },
        shared.rows[i].value);
}

struct AddOption {
  CLI::App& app;
  const SharedSetting& shared;
  TaskOptions& options;

  template <class Value>
  CLI::Option* of() const {
    const auto set = [shared = shared, &options = options](const Value& value) { assign(shared, options, value); };
    return app.add_option_function<Value>("--" + shared.given.name, set, with_flags(shared.rows.front().help));
  }
  CLI::Option* operator()(const std::string*) const { return of<std::string>(); }
  CLI::Option* operator()(const Setting::FromText&) const { return of<std::string>(); }
  CLI::Option* operator()(const std::filesystem::path*) const { return of<std::filesystem::path>()->type_name(kPathType); }
  CLI::Option* operator()(const double*) const { return of<double>(); }
  CLI::Option* operator()(const std::int64_t*) const { return of<std::int64_t>(); }
  CLI::Option* operator()(const std::optional<std::int64_t>*) const { return of<std::int64_t>(); }
  CLI::Option* operator()(const std::array<double, 2>*) const {
    return of<std::vector<double>>()->expected(2)->delimiter(',');
  }
};

void add(CLI::App& app, const SharedSetting& shared, TaskOptions& options) {
  const Setting& first = shared.rows.front();
  CLI::Option* option = std::visit(AddOption{app, shared, options}, first.value);
  if (!first.group.empty()) option->group(first.group);
  if (first.range) option->check(number_in(*first.range));
  if (!first.choices.empty()) option->check(one_of(first.choices));
  if (const std::string text = value_text(first); !text.empty()) option->default_str(text);
}

}  // namespace

CLI::Validator number_in(const NumberRange& range) {
  return {[range](const std::string& text) -> std::string {
            char* end = nullptr;
            const double value = std::strtod(text.c_str(), &end);
            if (end == text.c_str() || *end != '\0' || range.holds(value)) return {};
            return text + " is not in " + to_text(range);
          },
          to_text(range)};
}

CLI::Validator one_of(const std::vector<std::string>& words) {
  const CLI::Validator listed = CLI::IsMember(words);
  return {[listed, words](std::string& word) -> std::string {
            const std::string problem = listed(word);
            const auto likely = problem.empty() ? std::nullopt : likely_name(word, words);
            return problem + (likely ? "; did you mean " + *likely + "?" : "");
          },
          listed.get_description()};
}

CLI::Option* add_memory_option(CLI::App& app, const std::string& name, std::int64_t& bytes, const std::string& help) {
  return app.add_option_function<std::string>(
      name, [&bytes](const std::string& text) { bytes = bytes_from_text(text); }, help);
}

void add_task_settings(CLI::App& app, TaskCommand command, TaskOptions& options, const TaskTable& tasks) {
  std::vector<SharedSetting> all;
  for (const auto& task : tasks)
    for (Setting& row : task->settings(command, options)) {
      auto it = std::find_if(all.begin(), all.end(), [&](const auto& shared) { return shared.given.name == row.name; });
      if (it == all.end()) it = all.insert(all.end(), {{}, {row.name, {}}});
      it->given.tasks.push_back(task->name());
      it->rows.push_back(std::move(row));
    }
  for (const SharedSetting& shared : all) add(app, shared, options);
}

RunContext run_context(const Context& context, RunResources resources) {
  resources.threads = context.threads, resources.transport = context.transport;
  return RunContext(*context.progress, resources);
}

Outcome outcome(const TaskReport& report) {
  return {.json = report.json,
          .text = with_flags(report.text),
          .exit_code = report.partial ? kExitPartial : kExitOk,
          .interrupted = report.interrupted,
          .next = with_flags(report.next)};
}

}  // namespace voxshard
