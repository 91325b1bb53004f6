#include "results/run.hpp"

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
    EXPECT_EQ(config_to_json(
                  {{"a", "nan", true}, {"b", "inf", true}, {"c", "", true}, {"d", "0x1f", true}}),
              R"({"a":null,"b":null,"c":null,"d":null})");
}

TEST(ConfigJson, ComesBack) {
    const auto config =
        config_from_json(R"({"lr":0.7,"seed":18446744073709551615,"mode":"ddp","x":null})");
    ASSERT_EQ(config.size(), 4U);
    EXPECT_EQ(config[0].value, "0.7");
    EXPECT_TRUE(config[0].number);
    EXPECT_EQ(config[1].value, "18446744073709551615");
    EXPECT_EQ(config[2].value, "ddp");
    EXPECT_FALSE(config[2].number);
    EXPECT_EQ(config[3].value, "nan");
}

TEST(ContextJson, GroupsBySection) {
    EXPECT_EQ(context_to_json(
                  {{"mpi", "library", "x"}, {"host", "kernel", "y"}, {"mpi", "version", "4"}}),
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

TEST(Json, OfAnotherDepthIsRefused) {
    const std::string deep(100001, '[');
    for (const std::string& text :
         {R"({"a":{"b":{}}})" + std::string(), R"({"a":[1]})" + std::string(), deep,
          deep + "1" + std::string(deep.size(), ']')}) {
        EXPECT_THROW(config_from_json(text), base::DataError);
        EXPECT_THROW(context_from_json(text), base::DataError);
        EXPECT_THROW(warnings_from_json(text), base::DataError);
    }
}

TEST(ConfigJson, OfTwoValuesOfOneKeyTheLaterCounts) {
    const auto config = config_from_json(R"({"a":1,"b":true,"a":"x"})");
    ASSERT_EQ(config.size(), 2U);
    EXPECT_EQ(config[0].key + config[0].value, "ax");
    EXPECT_EQ(config[1].key + config[1].value, "btrue");
}

}  // namespace
}  // namespace ranklab::results
