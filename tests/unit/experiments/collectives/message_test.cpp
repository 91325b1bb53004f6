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

std::vector<std::uint64_t> sizes(std::uint64_t smallest, std::uint64_t largest, double factor,
                                 std::optional<std::uint64_t> step = {}) {
    vocabulary::CollectivesSettings settings;
    settings.min_bytes = smallest;
    settings.max_bytes = largest;
    settings.step_factor = factor;
    settings.step_bytes = step;
    return message_sizes(settings);
}

TEST(MessageSizes, GrowByAFactorOrByBytes) {
    EXPECT_THAT(sizes(8, 64, 2), ElementsAre(8, 16, 32, 64));
    EXPECT_THAT(sizes(10, 40, 2, 15), ElementsAre(10, 25, 40));
    EXPECT_THAT(sizes(1, 10, 1.5), ElementsAre(1, 2, 3, 5, 7)) << "1, 1.5, 2.25, 3.375, ...";
    EXPECT_THAT(sizes(0, 4, 2), ElementsAre(0, 1, 2, 4));
    EXPECT_THAT(sizes(7, 7, 2), ElementsAre(7));
    EXPECT_EQ(sizes(1, 1000, 2, 1).size(), 1000U);
}

TEST(MessageSizes, RefuseWhatIsNone) {
    EXPECT_THAT(tests::thrown_sentence<base::OptionError>([] { sizes(9, 8, 2); }),
                HasSubstr("largest"));
    EXPECT_THAT(tests::thrown_sentence<base::OptionError>([] { sizes(1, 1001, 2, 1); }),
                HasSubstr("1000"));
    EXPECT_THAT(tests::thrown_sentence<base::OptionError>([] { sizes(8, 1ULL << 51, 2); }),
                HasSubstr("2^50"));
}

std::vector<std::size_t> parts_of(Message form, const std::vector<std::uint64_t>& sizes) {
    form.ranks = 3;
    std::vector<std::size_t> parts;
    for (const auto& message : messages_of(form, sizes)) parts.push_back(message.part);
    return parts;
}

TEST(Messages, AreWholeElementsOfEachRankAndEachOnce) {
    const Message floats{.operation = Operation::allreduce, .dtype = DType::f32};
    EXPECT_THAT(parts_of(floats, {0, 1, 4, 7, 8}), ElementsAre(1, 2)) << "at least one element";
    const Message parts{.operation = Operation::allgather, .dtype = DType::f64};
    EXPECT_THAT(parts_of(parts, {8, 24, 50, 72}), ElementsAre(1, 2, 3)) << "of each of 3 ranks";
    EXPECT_EQ(messages_of(Message{.operation = Operation::barrier}, {8, 16}).size(), 1U);
}

TEST(Messages, CountBytesAsTheGlossaryDoes) {
    Message message{.operation = Operation::allgather, .dtype = DType::f32, .ranks = 3, .part = 10};
    EXPECT_EQ(message.bytes(), 120U);
    EXPECT_EQ(message.send_count(), 10U);
    EXPECT_EQ(message.receive_count(), 30U);
    message.operation = Operation::reduce_scatter;
    EXPECT_EQ(message.send_count(), 30U);
    EXPECT_EQ(message.receive_count(), 10U);
    message.in_place = true;
    EXPECT_EQ(message.receive_count(), 30U) << "MPI reads it there";
    message.operation = Operation::allreduce;
    EXPECT_EQ(message.bytes(), 40U);
    EXPECT_EQ(message.name(), "allreduce:fp32:sum:40:in-place");
}

TEST(Messages, BusBandwidthIsWhatCrossesTheSlowestLink) {
    Message message{
        .operation = Operation::allreduce, .dtype = DType::u8, .ranks = 4, .part = 4'000'000};
    EXPECT_DOUBLE_EQ(message.algbw_GBps(1000), 4);
    EXPECT_DOUBLE_EQ(message.busbw_GBps(1000), 4 * 1.5);
    Message alone = message;
    alone.ranks = 1;
    EXPECT_TRUE(std::isnan(alone.busbw_GBps(1000))) << "nothing crosses anything";
    message.operation = Operation::allgather;
    EXPECT_DOUBLE_EQ(message.algbw_GBps(1000), 16);
    EXPECT_DOUBLE_EQ(message.busbw_GBps(1000), 12);
    message.operation = Operation::broadcast;
    EXPECT_DOUBLE_EQ(message.busbw_GBps(1000), 4);
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
