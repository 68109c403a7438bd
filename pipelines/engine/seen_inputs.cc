#include "pipelines/engine/seen_inputs.h"

#include <algorithm>
#include <set>

#include "io/files/config_file.h"
#include "io/files/content_hash.h"
#include "io/files/file_error.h"
#include "libcore/base/text.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

/// True when all files of an input are among those of `known`. All are needed: volumes in two files may share an equal
/// header.
bool is_among(const TrainedOn& known, const std::vector<std::string>& keys) {
  return !keys.empty() && std::ranges::all_of(keys, [&](const std::string& key) { return known.contains(key); });
}

std::string of_all(std::size_t count, std::int64_t all) { return std::to_string(count) + " of " + std::to_string(all); }

void say_seen(const InputSieve& sieve, const SeenInputs& seen) {
  Progress& progress = sieve.progress;
  if (!seen.trained_on.empty())
    progress.warn("W_TRAINED " + of_all(seen.trained_on.size(), seen.inputs) +
                  " inputs are what the run was trained on: scores of them say nothing about new data; {held-out} "
                  "predicts the others alone");
  if (sieve.only != nullptr)
    progress.log("held out: " + of_all(static_cast<std::size_t>(seen.inputs) - seen.left_out.size(), seen.inputs) +
                 " inputs validated the run and are predicted");
  else if (!seen.left_out.empty())
    progress.log("{held-out}: " + of_all(seen.left_out.size(), seen.inputs) +
                 " inputs are what the run was trained on, and are not predicted");
}

/// Adds what was seen of inputs that arrived later. Of a name that comes again the later input counts: it replaces the
/// prediction of the earlier one.
void add_seen(SeenInputs& all, const SeenInputs& now, const std::vector<HashedCase>& inputs) {
  all.inputs += now.inputs;
  if (all.any()) {
    std::set<std::string> again;
    for (const HashedCase& input : inputs) again.insert(input.name);
    for (auto* names : {&all.trained_on, &all.left_out})
      std::erase_if(*names, [&](const std::string& name) { return again.contains(name); });
  }
  all.trained_on.insert(all.trained_on.end(), now.trained_on.begin(), now.trained_on.end());
  all.left_out.insert(all.left_out.end(), now.left_out.begin(), now.left_out.end());
}

}  // namespace

std::vector<char> wanted_inputs(const InputSieve& sieve, const std::vector<HashedCase>& inputs) {
  std::vector<char> wanted(inputs.size(), 1);
  SeenInputs seen{.inputs = std::ssize(inputs), .trained_on = {}, .left_out = {}};
  std::vector<std::string> times;
  for (const HashedCase& input : inputs) times.push_back(times_of(input));
  const auto keys = item_keys(inputs, sieve.pool, sieve.progress);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const bool asked = sieve.only == nullptr || is_among(*sieve.only, keys[i]);
    const bool trained = is_among(sieve.trained_on, keys[i]);
    wanted[i] = asked && !(trained && sieve.held_out);
    if (!wanted[i])
      seen.left_out.push_back(inputs[i].name);
    else if (trained)
      seen.trained_on.push_back(inputs[i].name);
    if (!wanted[i] || sieve.wanted == nullptr) continue;
    HashedCase& input = sieve.wanted->emplace_back(inputs[i]);
    input.times = times[i];
    if (!keys[i].empty()) input.content = content_hash(joined(keys[i], " "));
  }
  say_seen(sieve, seen);
  add_seen(sieve.seen, seen, inputs);
  const bool none = !inputs.empty() && std::ranges::find(wanted, 1) == wanted.end();
  if (none && sieve.only != nullptr)
    throw Error(ErrorKind::kNoCase, "[predict] none of the " + std::to_string(inputs.size()) +
                                        " inputs holds what validated the run; were the data changed since?");
  if (none)
    throw Error(ErrorKind::kNoCase, "[predict] {held-out}: the run was trained on all of the " +
                                        std::to_string(inputs.size()) + " inputs; give others, or leave it out");
  return wanted;
}

fs::path seen_file_of(const fs::path& output) {
  if (output.extension() != ".json") return output / "trained_on.json";
  return output.parent_path() / (output.stem().string() + ".trained_on.json");
}

OutputKind seen_file() {
  return {"a list of predictions of what was trained on", {".json"}, begins_with({R"({"trained_on":)"})};
}

void write_seen(const fs::path& output, const SeenInputs& seen) {
  const fs::path file = seen_file_of(output);
  std::error_code error;
  if (!seen.any()) {
    if (fs::exists(file, error) && seen_file().is_ours(file)) fs::remove(file, error);
    return;
  }
  nlohmann::ordered_json json;
  add_counts(json, seen);
  json["inputs"] = seen.inputs, json["names_trained_on"] = seen.trained_on, json["names_left_out"] = seen.left_out;
  write_json(file, json);
}

std::optional<SeenInputs> read_seen(const fs::path& predictions) {
  const fs::path file = seen_file_of(predictions);
  std::error_code error;
  if (!fs::exists(file, error)) return std::nullopt;
  const nlohmann::json json = read_json(file);
  try {
    return SeenInputs{
        .inputs = json.at("inputs"), .trained_on = json.at("names_trained_on"), .left_out = json.at("names_left_out")};
  } catch (const nlohmann::json::exception&) {
    throw input_error(file, "is no list of what was trained on", "predict again");
  }
}

SeenInputs joined_seen(SeenInputs a, const SeenInputs& b) {
  const std::set<std::string> theirs(b.left_out.begin(), b.left_out.end());
  std::erase_if(a.left_out, [&](const std::string& name) { return !theirs.contains(name); });
  const std::set<std::string> known(a.trained_on.begin(), a.trained_on.end());
  for (const std::string& name : b.trained_on)
    if (!known.contains(name)) a.trained_on.push_back(name);
  a.inputs = std::max(a.inputs, b.inputs);
  return a;
}

SeenInputs seen_among(SeenInputs seen, const std::vector<std::string>& names) {
  const std::set<std::string> scored(names.begin(), names.end());
  std::erase_if(seen.trained_on, [&](const std::string& name) { return !scored.contains(name); });
  seen.inputs = std::ssize(names);
  return seen;
}

std::string seen_text(const SeenInputs& seen) {
  std::string text;
  if (!seen.trained_on.empty())
    text = "W_TRAINED " + of_all(seen.trained_on.size(), seen.inputs) +
           " that are scored are what the run was trained on: these scores say little about new data";
  if (!seen.left_out.empty())
    text += std::string(text.empty() ? "" : "; ") + std::to_string(seen.left_out.size()) +
            " that the run was trained on were not predicted and are not scored";
  return text.empty() ? text : text + "\n";
}

}  // namespace voxshard
