#include "apps/setting_args.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "apps/terminal/flags.h"
#include "pipelines/model_runs/model_spec.h"

namespace voxshard {
namespace {

/// Adds an option that accepts what CLI11 accepts for this type; the row of the setting parses it.
template <class Value>
CLI::Option* typed_option(CLI::App& app, const std::string& names, const CLI::callback_t& say,
                          const std::string& help) {
  CLI::Option* option = app.add_option(names, say, help);
  option->type_name(CLI::detail::type_name<Value>());
  option->type_size(CLI::detail::type_count_min<Value>::value, CLI::detail::type_count<Value>::value);
  option->expected(CLI::detail::expected_count<Value>::value);
  return option;
}

struct OptionOfType {
  CLI::App& app;
  const std::string& names;
  const CLI::callback_t& say;
  const std::string& help;
  bool is_flag, is_path;

  CLI::Option* operator()(bool) const {
    if (is_flag)
      return app.add_flag_function(
          names, [say = say](std::int64_t count) { say({count > 0 ? "true" : "false"}); }, help);
    return typed_option<bool>(app, names, say, help);
  }
  CLI::Option* operator()(const std::string&) const {
    CLI::Option* option = typed_option<std::string>(app, names, say, help);
    return is_path ? option->type_name(kPathType) : option;
  }
  CLI::Option* operator()(const std::vector<double>&) const {
    return typed_option<std::vector<double>>(app, names, say, help)->expected(2)->delimiter(',');
  }
  CLI::Option* operator()(const std::vector<std::int64_t>&) const {
    return typed_option<std::vector<std::int64_t>>(app, names, say, help)->delimiter(',')->allow_extra_args(false);
  }
  template <class Number>
  CLI::Option* operator()(Number) const {
    return typed_option<Number>(app, names, say, help);
  }
};

void add(CLI::App& app, Settings& settings, const Settings::Entry& entry) {
  const Setting& row = entry.row();
  std::string names = "--" + row.name;
  for (const std::string& other : row.other_names) names += ",--" + other;
  const CLI::callback_t say = [&settings, &row](const CLI::results_t& words) {
    if (!parsed(row, words)) return false;  // CLI11 then names the option
    settings.say(Layer::kCommandLine, row.name, words);
    return true;
  };
  const std::string help = with_flags(std::string_view(entry.help()));
  CLI::Option* option = std::visit(OptionOfType{app, names, say, help, std::holds_alternative<bool*>(row.value),
                                                std::holds_alternative<std::filesystem::path*>(row.value)},
                                   example_of(row));
  if (!row.type.empty()) option->type_name(row.type);
  if (!row.group.empty()) option->group(with_flags(std::string_view(row.group)));
  if (row.range) option->check(number_in(*row.range));
  if (!row.choices.empty()) option->check(one_of(row.choices));
  if (!entry.usual.empty()) option->default_str(entry.usual);
}

}  // namespace

CLI::Validator number_in(const NumberRange& range) {
  return {[range](const std::string& word) { return range_problem(range, word); }, to_text(range)};
}

CLI::Validator one_of(const std::vector<std::string>& words) {
  return {[words](const std::string& word) { return choice_problem(words, word); }, choices_text(words)};
}

CLI::Option* add_memory_option(CLI::App& app, const std::string& name, std::int64_t& bytes, const std::string& help) {
  const auto read = [&bytes, name](const std::string& text) {
    try {
      bytes = bytes_from_text(text);
    } catch (Error& e) {
      e.add_context(name);
      throw;
    }
  };
  return app.add_option_function<std::string>(name, read, help);
}

CLI::Option* add_irregular_option(CLI::App& app, IrregularSlices& irregular, const std::string& help) {
  const auto choose = [&irregular](const std::string& word) {
    irregular = word == "resample" ? IrregularSlices::kResample : IrregularSlices::kReject;
  };
  return app.add_option_function<std::string>("--irregular-slices", choose, help)
      ->check(one_of({"reject", "resample"}))
      ->default_str(irregular == IrregularSlices::kResample ? "resample" : "reject");
}

void add_weights_options(CLI::App& app, std::string& checkpoint, std::string& weights, const std::string& group) {
  for (CLI::Option* option :
       {app.add_option("--checkpoint", checkpoint, "best, last, or auto: best when there is one"),
        app.add_option("--weights", weights,
                       "Of a run that keeps an average of its weights (--ema): averaged, last, or auto: those that "
                       "validated better")}) {
    option->capture_default_str();
    if (!group.empty()) option->group(group);
  }
}

void add_settings(CLI::App& app, Settings& settings) {
  for (const Settings::Entry& entry : settings.entries())
    if (app.get_option_no_throw("--" + entry.name()) == nullptr) add(app, settings, entry);
  for (const Settings::Entry& entry : settings.entries())
    for (const std::string& other : entry.row().excludes) app.get_option("--" + entry.name())->excludes("--" + other);
}

}  // namespace voxshard
