#include "vocabulary/settings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>

namespace ranklab::vocabulary {
namespace {

using Names = std::set<std::string>;

/// The names of all settings but requests for which `has` returns true.
template <class Has>
Names those_that(Has has) {
    Names names;
    for (const auto* rows : {&training_settings(), &storage_settings(), &common_settings()})
        for (const auto& option : rows->all())
            if (option.role != options::Role::request && std::invoke(has, option))
                names.insert(option.name);
    return names;
}

Names both_of(const Names& one, const Names& other) {
    Names both = one;
    both.insert(other.begin(), other.end());
    return both;
}

const Names kToNobody{
    "output",          "label",        "config",        "quiet",        "seed",
    "directory",       "time-limit",   "stall-timeout", "lock-timeout", "expected-ranks",
    "expect-ranks",    "data-dir",     "memory-format", "inputs",       "inputs-hash",
    "targets",         "trace-window", "monitor",       "nvtx",         "log-lines",
    "flops-per-token", "peak-tflops"};
const Names kToComparisonAlone{"repetitions", "target-ci",       "checkpoint",
                               "resume",      "save-parameters", "keep",
                               "json-file",   "tensorboard",     "trace"};
const Names kNotToGroups{"warmup",     "steps",           "epochs",           "overlap-steps",
                         "evaluate",   "eval-batch-size", "check-parameters", "reads",
                         "ceilings",   "check-write",     "check-read",       "checkpoint-every",
                         "target-loss"};

TEST(Settings, MatterToSomeAndNotToOthers) {
    const auto unimportant_to = [](SettingUse asker) {
        return those_that(
            [asker](const options::Option& option) { return !matters_to(asker, option.name); });
    };
    EXPECT_EQ(unimportant_to(SettingUse::comparison), kToNobody);
    EXPECT_EQ(unimportant_to(SettingUse::factor), both_of(kToNobody, kToComparisonAlone));
    EXPECT_EQ(unimportant_to(SettingUse::group),
              both_of(both_of(kToNobody, kToComparisonAlone), kNotToGroups));
}

TEST(Settings, OfALaterProgramMatterToAll) {
    for (const auto asker : {SettingUse::comparison, SettingUse::group, SettingUse::factor})
        EXPECT_TRUE(matters_to(asker, "no-such-setting"));
    EXPECT_EQ(find_setting("no-such-setting"), nullptr);
    const auto& other = setting_row("no-such-setting");
    EXPECT_EQ(other.role, options::Role::work);
    EXPECT_FALSE(other.between_ranks || other.follows_ranks || other.decides_numbers);
}

TEST(Settings, SomeDecideWhatARankComputesOnASample) {
    EXPECT_EQ(those_that([](const auto& option) {
                  return storage_settings().find(option.name) == nullptr &&
                         matters_to(SettingUse::sample_work, option.name);
              }),
              (Names{"model",
                     "sequence-length",
                     "clip-gradients",
                     "input-shape",
                     "classes",
                     "target-shape",
                     "loss",
                     "data",
                     "width",
                     "full-scale",
                     "lambda-rho",
                     "optimizer",
                     "momentum",
                     "ops",
                     "dropout",
                     "input",
                     "loader-cost-us",
                     "prefetch",
                     "image-size",
                     "crop-edge",
                     "volume-access",
                     "rotate",
                     "rotate-vectors",
                     "ablation",
                     "precision",
                     "device",
                     "channels-last",
                     "jit",
                     "cuda-graph",
                     "cudnn-benchmark",
                     "fused-optimizer",
                     "compress",
                     "inject-delay",
                     "threads"}));
    EXPECT_TRUE(matters_to(SettingUse::sample_work, "workers"));
}

TEST(Settings, OfFilesCountByBeingSet) {
    EXPECT_EQ(those_that([](const auto& option) { return option.role == options::Role::kept; }),
              (Names{"checkpoint", "resume", "save-parameters", "keep", "json-file", "tensorboard",
                     "trace"}));
}

TEST(Settings, SomeMeanNothingOnASingleDevice) {
    EXPECT_EQ(those_that(&options::Option::between_ranks),
              (Names{"mode", "sync", "backend", "bucket-cap-mb", "mpi-progress", "transfer",
                     "compress", "overlap-steps", "no-broadcast-buffers", "replicas", "sharding",
                     "zero", "prefetch-blocks"}));
}

TEST(Settings, SomeFollowFromTheRanksOfANode) {
    EXPECT_EQ(those_that(&options::Option::follows_ranks),
              (Names{"mpi-progress", "transfer", "threads"}));
}

TEST(Settings, SomeDecideTheParametersValues) {
    EXPECT_EQ(those_that(&options::Option::decides_numbers), (Names{"model",
                                                                    "sequence-length",
                                                                    "clip-gradients",
                                                                    "input-shape",
                                                                    "classes",
                                                                    "target-shape",
                                                                    "loss",
                                                                    "width",
                                                                    "full-scale",
                                                                    "lambda-rho",
                                                                    "data",
                                                                    "input",
                                                                    "image-size",
                                                                    "crop-edge",
                                                                    "rotate",
                                                                    "rotate-vectors",
                                                                    "train-samples",
                                                                    "precision",
                                                                    "device",
                                                                    "mode",
                                                                    "zero",
                                                                    "sync",
                                                                    "replicas",
                                                                    "accumulate",
                                                                    "sharding",
                                                                    "shuffle",
                                                                    "dropout",
                                                                    "seed",
                                                                    "optimizer",
                                                                    "lr",
                                                                    "lr-schedule",
                                                                    "gamma",
                                                                    "momentum",
                                                                    "global-batch-size",
                                                                    "compress",
                                                                    "no-broadcast-buffers",
                                                                    "lr-scaling",
                                                                    "base-batch-size",
                                                                    "lr-warmup-steps",
                                                                    "end-lr",
                                                                    "lr-total-steps",
                                                                    "fused-optimizer",
                                                                    "channels-last",
                                                                    "ops",
                                                                    "jit",
                                                                    "cuda-graph"}));
}

// A run from before --ops existed equals one with the value that matches what it did.
TEST(Settings, AreAbsentInRunsOfBeforeTheirTime) {
    const OtherSettings on_gpu = [](const std::string& name) {
        return name == "device" ? "cuda" : "";
    };
    const OtherSettings on_cpu = [](const std::string& name) {
        return name == "device" ? "cpu" : "";
    };
    EXPECT_EQ(value_when_absent("ops", on_cpu), "ranklab");
    EXPECT_EQ(value_when_absent("ops", on_gpu), "libtorch") << "ours are for the CPU";
    EXPECT_EQ(value_when_absent("model", on_cpu), "");
    for (const auto asker : {SettingUse::comparison, SettingUse::group, SettingUse::factor}) {
        EXPECT_FALSE(matters_to(asker, "ops", "ranklab"));
        EXPECT_TRUE(matters_to(asker, "ops", "libtorch"));
        EXPECT_TRUE(matters_to(asker, "model", "mnist-cnn"));
        EXPECT_FALSE(matters_to(asker, "chunk-files", "1")) << "of older versions";
        EXPECT_FALSE(matters_to(asker, "rename", "false")) << "of older versions";
        EXPECT_TRUE(matters_to(asker, "rotate-buffers", "true")) << "of older versions";
    }
}

// find_setting() has one answer for all commands.
TEST(Settings, OfOneNameAreOfOneKind) {
    for (const auto& one : training_settings().all()) {
        EXPECT_EQ(common_settings().find(one.name), nullptr) << one.name;
        const auto* other = storage_settings().find(one.name);
        if (other == nullptr) continue;
        EXPECT_EQ(one.role, other->role) << one.name;
        EXPECT_EQ(one.between_ranks, other->between_ranks) << one.name;
        EXPECT_EQ(one.follows_ranks, other->follows_ranks) << one.name;
        EXPECT_EQ(one.decides_numbers, other->decides_numbers) << one.name;
    }
    for (const auto& one : storage_settings().all())
        EXPECT_EQ(common_settings().find(one.name), nullptr) << one.name;
}

TEST(Settings, AllHaveAHelpAndASection) {
    for (const auto* rows : {&training_settings(), &storage_settings(), &common_settings()}) {
        for (const auto& option : rows->all()) {
            EXPECT_FALSE(option.help.empty()) << option.name;
            EXPECT_FALSE(option.section.empty()) << option.name;
        }
    }
}

}  // namespace
}  // namespace ranklab::vocabulary
