// Options that need or exclude others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "options/options.hpp"

namespace ranklab::options {
namespace {

using Words = std::vector<std::string>;

struct Settings {
    std::string mode = "single", precision = "fp32";
    std::optional<int> replicas;
    bool jit = false, graph = false;
    std::optional<std::string> checkpoint, progress;
    int every = 1;
};

Schema schema() {
    Schema schema;
    schema.section("All")
        .choice("mode", &Settings::mode, {"single", "dp"}, "")
        .integer("replicas", &Settings::replicas, 1, "")
        .needs({.other = "mode", .values = {"dp"}})
        .choice("precision", &Settings::precision, {"fp32", "bf16", "fp16"}, "")
        .flag("jit", &Settings::jit, "")
        .excludes(
            {.other = "precision", .values = {"bf16", "fp16"}, .because = "its types are fixed"})
        .flag("graph", &Settings::graph, "")
        .excludes({.other = "jit"})
        .text("checkpoint", &Settings::checkpoint, "DIR", "")
        .integer("every", &Settings::every, 1, "")
        .needs({.other = "checkpoint", .because = "its folder"})
        .choice("progress", &Settings::progress, {"none", "poll", "thread"}, "")
        .excludes({.other = "mode", .values = {"dp"}, .own = {"none", "poll"}});
    return schema;
}

/// "" where all is well.
std::string refusal(const Words& words) {
    const auto options = Options::parse(schema(), words);
    try {
        options.check_relations(options.fields<Settings>());
    } catch (const base::OptionError& error) {
        return error.what();
    }
    return "";
}

TEST(Relations, OfAPropertyCountForTheEntriesThatHaveIt) {
    struct Chosen {
        std::string model = "cnn";
        bool rotate = false;
    };
    const auto refuses = [](const char* model, const Properties& properties) {
        Schema schema;
        schema.choice("model", &Chosen::model, {}, "")
            .flag("rotate", &Chosen::rotate, "")
            .needs({.other = "model", .property = "volumes"})
            .offer("model", {"cnn", "unet"}, properties);
        const auto options = Options::parse(schema, {"--model", model, "--rotate"});
        try {
            options.check_relations(options.fields<Chosen>());
        } catch (const base::OptionError&) {
            return true;
        }
        return false;
    };
    EXPECT_FALSE(refuses("unet", {{"volumes", {"unet"}}}));
    EXPECT_TRUE(refuses("cnn", {{"volumes", {"unet"}}}));
    EXPECT_FALSE(refuses("cnn", {})) << "the properties are not known";
}

TEST(Relations, NothingGivenIsFine) {
    EXPECT_EQ(refusal({}), "");
}

TEST(Relations, WhatExcludesAnotherIsRefusedWithIt) {
    EXPECT_EQ(refusal({"--graph", "--jit"}),
              "--graph and --jit exclude each other; leave one of them out");
    EXPECT_EQ(refusal({"--graph"}), "");
    EXPECT_EQ(refusal({"--jit"}), "");
}

TEST(Relations, AValueMayBeWhatIsExcluded) {
    EXPECT_EQ(refusal({"--jit", "--precision", "fp16"}),
              "--jit and --precision fp16 exclude each other: its types are fixed; leave one of "
              "them out");
    EXPECT_EQ(refusal({"--jit", "--precision", "fp32"}), "");
}

TEST(Relations, OfAnOptionSomeValuesMayExclude) {
    EXPECT_EQ(refusal({"--progress=poll", "--mode=dp"}),
              "--progress poll and --mode dp exclude each other; leave one of them out");
    EXPECT_EQ(refusal({"--progress=thread", "--mode=dp"}), "");
    EXPECT_EQ(refusal({"--progress=poll"}), "");
}

TEST(Relations, WhatIsNeededHasToBeGiven) {
    EXPECT_EQ(refusal({"--every", "2"}),
              "--every 2 needs --checkpoint DIR: its folder; give that too, or leave --every out");
    EXPECT_EQ(refusal({"--every", "2", "--checkpoint", "c"}), "");
}

TEST(Relations, AValueMayBeWhatIsNeeded) {
    EXPECT_EQ(refusal({"--replicas", "2"}),
              "--replicas 2 is for --mode dp, but the mode is single; give --mode dp too, or leave "
              "--replicas out");
    EXPECT_EQ(refusal({"--replicas", "2", "--mode", "dp"}), "");
}

TEST(Relations, WhatIsSetToWhatItIsAnywayAsksForNothing) {
    EXPECT_EQ(refusal({"--every", "1"}), "");
}

TEST(Relations, CountASettledValue) {
    const auto given = Options::parse(schema(), {"--replicas", "2"});
    auto settled = given.fields<Settings>();
    settled.mode = "dp";
    EXPECT_NO_THROW(given.check_relations(settled));
}

}  // namespace
}  // namespace ranklab::options
