#include "experiments/collectives/pattern.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace ranklab::experiments {
namespace {

using comm::DType;
using comm::Operation;
using comm::ReduceOp;

constexpr DType kAll[] = {DType::u8,  DType::i32, DType::i64, DType::f32,
                          DType::f64, DType::f16, DType::bf16};

template <class T>
comm::BufferView view(std::vector<T>& values, DType dtype) {
    return {values.data(), values.size(), dtype};
}

// All ranks' values, reduced one after the other in the type, as a library may do.
template <class T>
std::vector<T> reduced(const Pattern& pattern, DType dtype, int ranks, std::size_t count,
                       ReduceOp op) {
    std::vector<T> sum(count), one(count);
    pattern.fill(view(sum, dtype), 0, 0);
    for (int rank = 1; rank < ranks; ++rank) {
        pattern.fill(view(one, dtype), rank, 0);
        for (std::size_t i = 0; i < count; ++i) {
            if (op == ReduceOp::sum) sum[i] = static_cast<T>(sum[i] + one[i]);
            if (op == ReduceOp::min) sum[i] = std::min(sum[i], one[i]);
            if (op == ReduceOp::max) sum[i] = std::max(sum[i], one[i]);
        }
    }
    return sum;
}

TEST(Pattern, SumsOfAnyNumberOfRanksAreExactInEveryType) {
    for (const auto dtype : kAll) {
        for (const int ranks : {1, 2, 3, 64, 300, 3000}) {
            const Message message{
                .operation = Operation::allreduce, .dtype = dtype, .ranks = ranks};
            const Pattern pattern(message, 5);
            comm::visit_type(dtype, [&](auto type) {
                using T = decltype(type);
                auto sum = reduced<T>(pattern, dtype, ranks, 100, ReduceOp::sum);
                EXPECT_EQ(pattern.wrong_of_reduction(view(sum, dtype), 0), 0U)
                    << word_of(dtype) << " of " << ranks;
                sum[17] = static_cast<T>(sum[17] + static_cast<T>(1));
                EXPECT_EQ(pattern.wrong_of_reduction(view(sum, dtype), 0), 1U);
            });
        }
    }
}

TEST(Pattern, MinAndMaxAreFound) {
    for (const auto op : {ReduceOp::min, ReduceOp::max}) {
        Message message{.operation = Operation::reduce,
                        .dtype = DType::f16,
                        .reduction = static_cast<Reduction>(op),
                        .ranks = 5};
        const Pattern pattern(message, 0);
        auto values = reduced<comm::Float16>(pattern, DType::f16, 5, 9000, op);
        EXPECT_EQ(pattern.wrong_of_reduction(view(values, DType::f16), 0), 0U);
        message.ranks = 4;
        const Pattern other(message, 0);
        EXPECT_GT(other.wrong_of_reduction(view(values, DType::f16), 0), 0U) << "a rank too many";
    }
}

TEST(Pattern, AnAverageMayBeOffByTheLastPlacesAlone) {
    const Message message{.operation = Operation::allreduce,
                          .dtype = DType::f32,
                          .reduction = Reduction::avg,
                          .ranks = 3};
    const Pattern pattern(message, 1);
    auto values = reduced<float>(pattern, DType::f32, 3, 1000, ReduceOp::sum);
    for (float& value : values) value *= 1.0F / 3;  // as a library that multiplies
    EXPECT_EQ(pattern.wrong_of_reduction(view(values, DType::f32), 0), 0U);
    values[3] *= 1.0001F;
    EXPECT_EQ(pattern.wrong_of_reduction(view(values, DType::f32), 0), 1U);
}

TEST(Pattern, TellsRanksPlacesAndCallsApart) {
    const Message message{.operation = Operation::allgather, .dtype = DType::i32, .ranks = 4};
    const Pattern pattern(message, 7);
    std::vector<std::int32_t> values(20'000);
    pattern.fill(view(values, DType::i32), 2, 100);
    EXPECT_EQ(pattern.wrong_of_rank(view(values, DType::i32), 2, 100), 0U);
    const std::size_t most = values.size() * 98 / 100;  // of 251 numbers one is the same by chance
    EXPECT_GT(pattern.wrong_of_rank(view(values, DType::i32), 1, 100), most) << "another rank";
    EXPECT_GT(pattern.wrong_of_rank(view(values, DType::i32), 2, 101), most) << "a place further";
    EXPECT_GT(Pattern(message, 8).wrong_of_rank(view(values, DType::i32), 2, 100), most)
        << "what an earlier call left";
}

// Detects a shifted result, an earlier one, or one of another rank, even in types with few values.
TEST(Pattern, TellsThemApartOnAnyNumberOfRanks) {
    for (const auto dtype : {DType::u8, DType::bf16, DType::f16}) {
        for (const int ranks : {2, 8, 15, 18, 33, 60, 128, 256, 300}) {
            const Message message{
                .operation = Operation::allreduce, .dtype = dtype, .ranks = ranks};
            const Pattern pattern(message, 1);
            comm::visit_type(dtype, [&](auto type) {
                using T = decltype(type);
                auto sum = reduced<T>(pattern, dtype, ranks, 400, ReduceOp::sum);
                EXPECT_GT(pattern.wrong_of_reduction(view(sum, dtype), 1), 100U)
                    << ranks << " shifted";
                EXPECT_GT(Pattern(message, 2).wrong_of_reduction(view(sum, dtype), 0), 100U)
                    << ranks << " of an earlier call";
            });
        }
    }
}

TEST(Pattern, WorksAtAnyByte) {
    const Message message{.operation = Operation::sendrecv, .dtype = DType::f64, .ranks = 2};
    const Pattern pattern(message, 0);
    std::vector<char> bytes(8 * 50 + 3);
    const comm::BufferView odd{bytes.data() + 3, 50, DType::f64};
    pattern.fill(odd, 1, 0);
    EXPECT_EQ(pattern.wrong_of_rank(odd, 1, 0), 0U);
    bytes[10] ^= 1;
    EXPECT_EQ(pattern.wrong_of_rank(odd, 1, 0), 1U);
}

TEST(FillMessage, PoisonsWhatIsToBeReceived) {
    Message message{
        .operation = Operation::allreduce, .dtype = DType::f32, .ranks = 2, .part = 100};
    const Pattern pattern(message, 0);
    std::vector<float> send(100), receive(100, 1.0F);
    comm::Transfer transfer{.operation = Operation::allreduce,
                            .send = view(send, DType::f32),
                            .receive = view(receive, DType::f32)};
    fill_message(message, pattern, transfer, 0);
    EXPECT_EQ(wrong_in(message, pattern, transfer.receive, 0, 0), 100U) << "nothing has come";
    EXPECT_EQ(pattern.wrong_of_rank(transfer.send, 0, 0), 0U);
}

}  // namespace
}  // namespace ranklab::experiments
