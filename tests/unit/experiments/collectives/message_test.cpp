#include "experiments/collectives/message.hpp"

#include <gmock/gmock.h>

#include "base/error.hpp"
#include "thrown_sentence.hpp"
#include "vocabulary/settings.hpp"

namespace ranklab::experiments {
namespace {

using comm::DType;
using comm::Operation;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(MessageSizes, GrowByAFactorOrByBytes) {
    EXPECT_THAT(message_sizes(8, 64, 2, 0), ElementsAre(8, 16, 32, 64));
    EXPECT_THAT(message_sizes(10, 40, 2, 15), ElementsAre(10, 25, 40));
    EXPECT_THAT(message_sizes(1, 10, 1.5, 0), ElementsAre(1, 2, 3, 5, 7))
        << "1, 1.5, 2.25, 3.375, ...";
    EXPECT_THAT(message_sizes(0, 4, 2, 0), ElementsAre(0, 1, 2, 4));
    EXPECT_THAT(message_sizes(7, 7, 2, 0), ElementsAre(7));
}

TEST(MessageSizes, RefuseWhatIsNone) {
    EXPECT_THAT(tests::thrown_sentence<base::OptionError>([] { message_sizes(9, 8, 2, 0); }),
                HasSubstr("largest"));
    EXPECT_THAT(
        tests::thrown_sentence<base::OptionError>([] { message_sizes(0, 1'000'000, 2, 1); }),
        HasSubstr("1000"));
}

std::vector<std::size_t> parts_of(const Message& form, const std::vector<std::uint64_t>& sizes,
                                  int ranks) {
    std::vector<std::size_t> parts;
    for (const auto& message : messages_of(form, sizes, ranks)) parts.push_back(message.part);
    return parts;
}

TEST(Messages, AreWholeElementsOfEachRankAndEachOnce) {
    const Message floats{.operation = Operation::allreduce, .dtype = DType::f32};
    EXPECT_THAT(parts_of(floats, {0, 1, 4, 7, 8}, 3), ElementsAre(1, 2)) << "at least one element";
    const Message parts{.operation = Operation::allgather, .dtype = DType::f64};
    EXPECT_THAT(parts_of(parts, {8, 24, 50, 72}, 3), ElementsAre(1, 2, 3)) << "of each of 3 ranks";
    EXPECT_EQ(messages_of(Message{.operation = Operation::barrier}, {8, 16}, 3).size(), 1U);
}

TEST(Messages, CountBytesAsTheGlossaryDoes) {
    Message message{.operation = Operation::allgather, .dtype = DType::f32, .part = 10};
    EXPECT_EQ(message.bytes(3), 120U);
    EXPECT_EQ(message.send_count(3), 10U);
    EXPECT_EQ(message.receive_count(3), 30U);
    message.operation = Operation::reduce_scatter;
    EXPECT_EQ(message.send_count(3), 30U);
    EXPECT_EQ(message.receive_count(3), 10U);
    message.in_place = true;
    EXPECT_EQ(message.receive_count(3), 30U) << "MPI reads it there";
    message.operation = Operation::allreduce;
    EXPECT_EQ(message.bytes(3), 40U);
    EXPECT_EQ(message.name(3), "allreduce:fp32:sum:40:in-place");
}

TEST(Messages, BusBandwidthIsWhatCrossesTheSlowestLink) {
    Message message{.operation = Operation::allreduce, .dtype = DType::u8, .part = 4'000'000};
    EXPECT_DOUBLE_EQ(message.algbw_GBps(1000, 4), 4);
    EXPECT_DOUBLE_EQ(message.busbw_GBps(1000, 4), 4 * 1.5);
    EXPECT_TRUE(std::isnan(message.busbw_GBps(1000, 1))) << "nothing crosses anything";
    message.operation = Operation::allgather;
    EXPECT_DOUBLE_EQ(message.algbw_GBps(1000, 4), 16);
    EXPECT_DOUBLE_EQ(message.busbw_GBps(1000, 4), 12);
    message.operation = Operation::broadcast;
    EXPECT_DOUBLE_EQ(message.busbw_GBps(1000, 4), 4);
}

TEST(Words, TakeListsAllAndNcclTestsNames) {
    EXPECT_THAT(chosen_types("double,float,fp32"), ElementsAre(DType::f32, DType::f64));
    EXPECT_EQ(chosen_types("all").size(), 7U);
    EXPECT_THAT(chosen_operations("barrier, allreduce"),
                ElementsAre(Operation::allreduce, Operation::barrier));
    EXPECT_EQ(chosen_reductions("all").size(), 4U);
}

TEST(Words, AreRefusedWithTheirNeighbours) {
    const auto sentence = [](const std::string& words, auto choose) {
        return tests::thrown_sentence<base::OptionError>([&] { choose(words); });
    };
    EXPECT_THAT(sentence("sum", chosen_operations), HasSubstr("--op 'sum'"));
    EXPECT_THAT(sentence("allreduce", chosen_reductions), HasSubstr("--redop 'allreduce'"));
    EXPECT_THAT(sentence("allredcue", chosen_operations), HasSubstr("did you mean allreduce"));
}

}  // namespace
}  // namespace ranklab::experiments
