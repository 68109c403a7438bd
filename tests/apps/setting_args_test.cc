// Settings as options of the command line: those of the program's models, and of a model that only tests define.
#include "apps/setting_args.h"
#include "apps/words/help_format.h"
#include "tests/expect_error.h"

#include <gmock/gmock.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "pipelines/settings/model_settings.h"
#include "tests/pipelines/tasks/toy_model.h"

namespace voxshard {
namespace {

/// The options of the models, with values parsed from `words`.
struct ParsedModel {
  ParsedModel(ModelTable models, std::vector<std::string> words) {
    model.models = std::move(models);
    settings.add(model_rows(model, false));
    app.formatter(help_format());
    add_settings(app, settings);
    std::reverse(words.begin(), words.end());
    app.parse(words);
  }

  ModelSettings model;
  Settings settings;
  CLI::App app;
};

ModelSpec spec_of(const ModelTable& models, const std::vector<std::string>& words) {
  return model_spec(ParsedModel(models, words).model, 1);
}

TEST(SettingArgs, AModelHandedInHasItsFieldsAsOptions) {
  ModelTable models = model_table();
  models.push_back(test::toy_model());
  const ModelSpec spec =
      spec_of(models, {"--model", "toy", "--width=7", "--toy-shape=steep", "--slope", "0.25", "--classes=4"});
  EXPECT_EQ(spec.spatial_axes(), 2);
  EXPECT_EQ(spec.as<test::ToyConfig>().width, 7);
  EXPECT_EQ(spec.as<test::ToyConfig>().shape, test::ToyShape::kSteep);
  EXPECT_EQ(spec.as<test::ToyConfig>().slope, 0.25);
  EXPECT_EQ(spec.as<test::ToyConfig>().classes, 4);
  const std::string help = ParsedModel(models, {}).app.help();
  EXPECT_THAT(help, testing::AllOf(testing::HasSubstr("Toys"), testing::HasSubstr("--width INT=3"),
                                   testing::HasSubstr("default: 3, of RetinaNet 91, of digits CNN 10"),
                                   testing::HasSubstr(", of Toys 2")));
}

TEST(SettingArgs, NothingGivenIsTheUsualModel) {
  EXPECT_EQ(to_json(spec_of(model_table(), {})), to_json(usual_spec(model_table().front())));
  EXPECT_EQ(spec_of(model_table(), {}).cut.recompute, Recompute::kNorms);
  EXPECT_EQ(spec_of(model_table(), {"--recompute=none"}).cut.recompute, Recompute::kNone);
  EXPECT_EQ(to_json(spec_of(model_table(), {"--model=retinanet"})), to_json(retinanet_spec({})));
  EXPECT_EQ(retinanet_spec({}).cut.recompute, Recompute::kNone) << "its residual sums would be made again and again";
  EXPECT_EQ(spec_of(model_table(), {"--model=retinanet", "--variant=legacy"}).as<RetinaNetConfig>().classes, 90);
  EXPECT_EQ(
      spec_of(model_table(), {"--classes=5", "--model=retinanet", "--variant=legacy"}).as<RetinaNetConfig>().classes,
      5);
  EXPECT_EQ(spec_of(model_table(), {"--activation=leaky_relu", "--up=nearest"}).as<UNetConfig>().slope, 0.01);
}

TEST(SettingArgs, ATpuConfigKeepsNormsAndLossesWithinAReplicaUnlessToldOtherwise) {
  const auto scopes = [](const std::vector<std::string>& words) {
    const ModelSpec spec = model_spec(ParsedModel(model_table(), words).model, 4);
    return std::pair(spec.norm_over_replica, spec.loss_over_replica);
  };
  EXPECT_EQ(scopes({"--replicas=2"}), std::pair(false, false));
  EXPECT_EQ(scopes({"--num_shards=2"}), std::pair(true, true));
  EXPECT_EQ(scopes({"--num_cores_per_replica=2", "--input_partition_dims=[[1,2,1,1,1],None]", "--cores=4"}),
            std::pair(true, true));
  EXPECT_EQ(scopes({"--num_shards=2", "--norm-scope=all"}), std::pair(false, false));
  EXPECT_EQ(scopes({"--num_shards=2", "--loss-scope=all"}), std::pair(true, false));
  EXPECT_EQ(scopes({"--replicas=2", "--norm-scope=replica"}), std::pair(true, true));
  EXPECT_EQ(scopes({"--replicas=2", "--loss-scope=replica"}), std::pair(false, true));
}

TEST(SettingArgs, TheLegacyVariantDecaysAndFreezesAsTheOriginalUnlessToldOtherwise) {
  const auto config = [](const std::vector<std::string>& words) {
    return spec_of(model_table(), words).as<RetinaNetConfig>();
  };
  EXPECT_EQ(config({"--model=retinanet"}).frozen, Frozen::kNone);
  EXPECT_EQ(config({"--model=retinanet", "--variant=legacy"}).frozen, Frozen::kStem);
  EXPECT_EQ(config({"--model=retinanet", "--variant=legacy"}).decay, Decay::kAllButBackboneNorms);
  EXPECT_EQ(config({"--frozen=none", "--decay-on=kernels", "--model=retinanet", "--variant=legacy"}).frozen,
            Frozen::kNone);
  EXPECT_EQ(config({"--frozen=none", "--decay-on=kernels", "--model=retinanet", "--variant=legacy"}).decay,
            Decay::kKernels);
}

TEST(SettingArgs, DecayOnAndFrozenWinOverTheLegacyVariantEachAloneAndInAnyOrder) {
  const std::vector<std::string> legacy = {"--model=retinanet", "--variant=legacy"};
  for (const bool later : {true, false})
    for (const std::string given : {"--decay-on=kernels", "--frozen=none"}) {
      std::vector<std::string> words = legacy;
      words.insert(later ? words.end() : words.begin(), given);
      const auto config = spec_of(model_table(), words).as<RetinaNetConfig>();
      const bool decay = given.starts_with("--decay-on");
      EXPECT_EQ(config.decay, decay ? Decay::kKernels : Decay::kAllButBackboneNorms) << given << " later: " << later;
      EXPECT_EQ(config.frozen, decay ? Frozen::kStem : Frozen::kNone) << given << " later: " << later;
    }
}

TEST(SettingArgs, AnOptionOfAnotherModelIsRefusedEvenWithItsUsualValue) {
  const auto refused = [](const std::vector<std::string>& words, const std::string& text) {
    expect_error(ErrorKind::kConfig, text, [&] { spec_of(model_table(), words); });
  };
  for (const auto& model : model_table())
    for (const auto& other : model_table())
      for (const ConfigField& row : other->fields)
        if (std::ranges::count(model->fields, row.option_name(), &ConfigField::option_name) == 0)
          refused({"--model", model->name,
                   "--" + row.option_name() + "=" + (row.said(other->config).empty() ? "1" : row.said(other->config))},
                  "{" + row.option_name() + "} is not an option of " + model->name);
}

/// The options of settings that only this test defines.
struct ToyOptions {
  double warmth = 0.001;
  std::int64_t naps = 2;
  bool purrs = false;
  std::vector<std::int64_t> meals;
  std::array<double, 2> weight = {3, 4.5};
  Settings settings;
  CLI::App app;

  ToyOptions() {
    settings.add({{"warmth", "How warm it is, as {naps} say", "Toys ({purrs})", &warmth, NumberRange{0, 9}},
                  {.name = "naps",
                   .help = "Naps a day",
                   .value = &naps,
                   .other_names = {"number_of_naps"},
                   .excludes = {"meals"}},
                  {.name = "purrs", .help = "Whether it purrs", .value = &purrs},
                  {"meals", "Hours of meals", "", &meals},
                  {"weight", "LOW,HIGH", "", &weight}});
    app.formatter(help_format());
    add_settings(app, settings);
  }
  void parse(std::vector<std::string> words) {
    std::reverse(words.begin(), words.end());
    app.parse(words);
  }
};

TEST(SettingArgs, ARowIsAnOptionWithItsTypeRangeDefaultAndGroup) {
  ToyOptions toy;
  const std::string help = toy.app.help();
  for (const char* piece : {"--warmth FLOAT:0 to 9=0.001", "How warm it is, as --naps say",
                            "Toys (--purrs):", "--naps,--number_of_naps INT=2", "Excludes: --meals",
                            "--weight FLOAT=3,4.5 x 2", "--meals INT ..."})
    EXPECT_THAT(help, testing::HasSubstr(piece)) << help;
  toy.parse({"--warmth=2.5", "--purrs", "--meals", "8,12", "--weight", "1,2"});
  EXPECT_EQ(toy.warmth, 2.5);
  EXPECT_TRUE(toy.purrs);
  EXPECT_EQ(toy.meals, (std::vector<std::int64_t>{8, 12}));
  EXPECT_EQ(toy.weight, (std::array{1.0, 2.0}));
  EXPECT_EQ(toy.settings.layer("warmth"), Layer::kCommandLine);
  EXPECT_FALSE(toy.settings.is_said("naps"));
}

TEST(SettingArgs, WhatARowDoesNotTakeIsAnErrorOfTheCommandLine) {
  for (const auto& [word, piece] :
       std::vector<std::pair<std::string, std::string>>{{"--warmth=10", "--warmth: 10 is not in 0 to 9"},
                                                        {"--naps=two", "Could not convert: --naps = two"},
                                                        {"--meals=8,x", "Could not convert: --meals"}}) {
    ToyOptions toy;
    try {
      toy.parse({word});
      ADD_FAILURE() << word << " was taken";
    } catch (const CLI::ParseError& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr(piece));
    }
  }
}

}  // namespace
}  // namespace voxshard
