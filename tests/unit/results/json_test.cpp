#include "results/json.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace ranklab::results {
namespace {

TEST(ConfigJson, WritesNumbersBareAndInOrder) {
    EXPECT_EQ(config_to_json({{"z", "0.7", true}, {"a", "0.7", false}, {"n", "12", true}}),
              R"({"z":0.7,"a":"0.7","n":12})");
    EXPECT_EQ(config_to_json({}), "{}");
}

TEST(ConfigJson, WhatIsNoNumberBecomesNull) {
    EXPECT_EQ(config_to_json({{"a", "nan", true}, {"b", "inf", true}, {"c", "", true}, {"d", "0x1f", true}}),
              R"({"a":null,"b":null,"c":null,"d":null})");
}

TEST(ConfigJson, ComesBack) {
    const auto config = config_from_json(R"({"lr":0.7,"seed":18446744073709551615,"mode":"ddp","x":null})");
    ASSERT_EQ(config.size(), 4U);
    EXPECT_EQ(config[0].value, "0.7");
    EXPECT_TRUE(config[0].number);
    EXPECT_EQ(config[1].value, "18446744073709551615");
    EXPECT_EQ(config[2].value, "ddp");
    EXPECT_FALSE(config[2].number);
    EXPECT_EQ(config[3].value, "nan");
}

TEST(ContextJson, GroupsBySection) {
    EXPECT_EQ(context_to_json({{"mpi", "library", "x"}, {"host", "kernel", "y"}, {"mpi", "version", "4"}}),
              R"({"mpi":{"library":"x","version":"4"},"host":{"kernel":"y"}})");
    const auto context = context_from_json(R"({"mpi":{"library":"x"}})");
    ASSERT_EQ(context.size(), 1U);
    EXPECT_EQ(context[0].section, "mpi");
}

TEST(WarningsJson, EscapesAndMendsText) {
    EXPECT_EQ(warnings_to_json({"a \"b\"\n"}), R"(["a \"b\"\n"])");
    EXPECT_EQ(warnings_to_json({"\xff!"}), "[\"\xEF\xBF\xBD!\"]");  // no UTF-8: U+FFFD
    EXPECT_EQ(warnings_from_json(R"(["é"])"), std::vector<std::string>{"é"});
}

TEST(Json, OfAnotherShapeIsRefused) {
    EXPECT_THROW(config_from_json("[]"), base::DataError);
    EXPECT_THROW(config_from_json("{"), base::DataError);
    EXPECT_THROW(config_from_json(""), base::DataError);
    EXPECT_THROW(context_from_json(R"({"a":1})"), base::DataError);
    EXPECT_THROW(warnings_from_json("{}"), base::DataError);
    EXPECT_THROW(warnings_from_json(std::string(100000, '[')), base::DataError);
}

// To hold these as a tree would overflow the stack, or take minutes.
TEST(Json, OfAnyDepthIsRefusedAtOnce) {
    for (const std::size_t depth : {std::size_t{3}, std::size_t{100001}}) {
        std::string objects;
        for (std::size_t i = 0; i < depth; ++i) objects += "{\"k\":";
        const std::string arrays(depth, '[');
        for (const std::string& deep : {arrays, objects, objects + "1" + std::string(depth, '}'),
                                        arrays + "1" + std::string(depth, ']'), "{\"a\":" + arrays,
                                        "{\"a\":{\"b\":" + objects, "[" + objects}) {
            EXPECT_THROW(config_from_json(deep), base::DataError);
            EXPECT_THROW(context_from_json(deep), base::DataError);
            EXPECT_THROW(warnings_from_json(deep), base::DataError);
        }
    }
}

TEST(Json, OfManyValuesIsReadInOnePassAndOfTooManyRefused) {
    const auto settings = [](int count) {
        std::string text = "{";
        for (int i = 0; i < count; ++i) text += (i > 0 ? ",\"k" : "\"k") + std::to_string(i) + "\":1";
        return text + "}";
    };
    EXPECT_EQ(config_from_json(settings(9900)).size(), 9900U);
    EXPECT_THROW(context_from_json("{\"a\":" + settings(100001) + "}"), base::DataError);
    std::string sections = "{";
    for (int i = 0; i < 100001; ++i) sections += (i > 0 ? ",\"s" : "\"s") + std::to_string(i) + "\":{}";
    EXPECT_THROW(context_from_json(sections + "}"), base::DataError);
    EXPECT_THROW(warnings_from_json("[" + std::string(1000, ' ') + std::string(100001, ',') + "]"),
                 base::DataError);
}

TEST(Json, OfALongTextIsOneThatAReaderTakes) {
    const std::string text(2 << 20, 'x');
    const auto warnings = warnings_from_json(warnings_to_json({text, "short"}));
    ASSERT_EQ(warnings.size(), 2U);
    EXPECT_LT(warnings[0].size(), std::size_t{1} << 20U);
    EXPECT_TRUE(warnings[0].ends_with("x..."));
    EXPECT_EQ(warnings[1], "short");
}

TEST(ConfigJson, OfTwoValuesOfOneKeyTheLaterCounts) {
    const auto config = config_from_json(R"({"a":1,"b":true,"a":"x"})");
    ASSERT_EQ(config.size(), 2U);
    EXPECT_EQ(config[0].key + config[0].value, "ax");
    EXPECT_EQ(config[1].key + config[1].value, "btrue");
}

}  // namespace
}  // namespace ranklab::results
