#include "comm/exchange.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "mpi_world.hpp"

namespace ranklab::comm {
namespace {

using ranklab::testing::world;

int last_rank() {
    return world().world_size() - 1;
}

TEST(Exchange, TextsOfAnyLengthComeByRank) {
    // Rank r sends r + r bytes, one of them NUL; rank 0 sends nothing.
    const auto text_of = [](int rank) {
        return std::string(static_cast<std::size_t>(rank), 'x') +
               std::string(static_cast<std::size_t>(rank), '\0');
    };
    const auto texts = gather_texts(world(), text_of(world().rank()));
    EXPECT_EQ(texts.size(), static_cast<std::size_t>(world().world_size()));
    for (int rank = 0; rank < static_cast<int>(texts.size()); ++rank)
        EXPECT_EQ(texts[static_cast<std::size_t>(rank)], text_of(rank));
}

TEST(Exchange, NoTextsAtAll) {
    EXPECT_EQ(gather_texts(world(), ""),
              std::vector<std::string>(static_cast<std::size_t>(world().world_size())));
}

TEST(Exchange, ATextFromEachRoot) {
    for (int root = 0; root < world().world_size(); ++root) {
        const std::string mine = "from rank " + std::to_string(world().rank());
        EXPECT_EQ(broadcast_text(world(), mine, root), "from rank " + std::to_string(root));
        EXPECT_EQ(broadcast_text(world(), world().rank() == root ? "" : mine, root), "");
    }
}

TEST(Exchange, ValuesByRank) {
    const auto values = gather_values(world(), 0.5 * world().rank());
    for (std::size_t rank = 0; rank < values.size(); ++rank)
        EXPECT_EQ(values[rank], 0.5 * static_cast<double>(rank));
    EXPECT_EQ(values.size(), static_cast<std::size_t>(world().world_size()));
}

TEST(Together, DoesNothingWhenAllIsWell) {
    int done = 0;
    EXPECT_NO_THROW(all_or_throw(world(), [&] { ++done; }));
    EXPECT_EQ(done, 1);
}

// Checks what all_or_throw() throws on each rank if the ranks from `first` on fail: the exit code,
// and whether it is a PeerError.
void expect_failure_from(int first) {
    bool thrown = false;
    try {
        all_or_throw(world(), [&] {
            if (world().rank() >= first)
                throw base::DataError("bad file on rank " + std::to_string(world().rank()));
        });
    } catch (const PeerError& error) {
        thrown = true;
        EXPECT_NE(world().rank(), first);
        EXPECT_EQ(error.code(), base::ExitCode::wrong_data);
    } catch (const base::DataError& error) {
        thrown = true;
        EXPECT_EQ(world().rank(), first) << "only the lowest failed rank speaks";
        EXPECT_EQ(std::string(error.what()), "bad file on rank " + std::to_string(first));
    }
    EXPECT_TRUE(thrown);
}

TEST(Together, TheLowestFailedRankSpeaksAndAllKnow) {
    for (int first = 0; first <= last_rank(); ++first) expect_failure_from(first);
}

TEST(Together, AForeignExceptionIsAnInternalError) {
    try {
        all_or_throw(world(), [] {
            if (world().rank() == last_rank()) throw std::runtime_error("not of our family");
        });
        ADD_FAILURE() << "nothing was thrown";
    } catch (const PeerError& error) {
        EXPECT_EQ(error.code(), base::ExitCode::internal);
    } catch (const std::runtime_error& error) {
        EXPECT_EQ(std::string(error.what()), "not of our family");
        EXPECT_EQ(world().rank(), last_rank());
    }
}

TEST(AgreeOnExit, TakesTheLargestCode) {
    const auto own = world().split(0, world().rank());
    EXPECT_EQ(agree_on_exit(*own, world().rank() == last_rank() ? 5 : 0, 30), 5);
    EXPECT_EQ(agree_on_exit(*own, 0, 30), 0);
}

// mpi_main_test.py tests the time-out: the process must end afterwards.

TEST(Exchange, TextsAreTheSameOrNot) {
    EXPECT_TRUE(is_same_everywhere(world(), "ranklab io --steps 3"));
    EXPECT_TRUE(is_same_everywhere(world(), ""));
    const bool alone = world().world_size() == 1;
    EXPECT_EQ(is_same_everywhere(world(), world().rank() == 0 ? "a" : "b"), alone);
    EXPECT_EQ(
        is_same_everywhere(world(), std::string(200, static_cast<char>('a' + world().rank()))),
        alone);
}

}  // namespace
}  // namespace ranklab::comm
