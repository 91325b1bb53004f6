#include "base/handle.hpp"

#include <gtest/gtest.h>

#include <type_traits>
#include <utility>
#include <vector>

namespace ranklab::base {
namespace {

std::vector<int> closed;

void close(int handle) noexcept {
    closed.push_back(handle);
}
using Handle = unique_handle<int, -1, close>;
using Closed = std::vector<int>;

class UniqueHandle : public ::testing::Test {
  protected:
    void SetUp() override { closed.clear(); }
};

TEST_F(UniqueHandle, ClosesOnceAtTheEndOfItsScope) {
    {
        const Handle handle(7);
        EXPECT_TRUE(handle);
        EXPECT_EQ(handle.get(), 7);
        EXPECT_EQ(closed, Closed{});
    }
    EXPECT_EQ(closed, Closed{7});
}

TEST_F(UniqueHandle, AnEmptyOneClosesNothing) {
    { const Handle handle; }
    { const Handle handle(-1); }
    EXPECT_EQ(closed, Closed{});
}

TEST_F(UniqueHandle, AMoveLeavesTheSourceEmpty) {
    {
        Handle first(1);
        Handle second(std::move(first));
        EXPECT_FALSE(first);  // NOLINT(bugprone-use-after-move): that is what is tested
        EXPECT_EQ(second.get(), 1);
    }
    EXPECT_EQ(closed, Closed{1});
}

TEST_F(UniqueHandle, AMoveAssignmentClosesWhatWasThere) {
    {
        Handle first(1);
        Handle second(2);
        second = std::move(first);
        EXPECT_EQ(closed, Closed{2});
        EXPECT_EQ(second.get(), 1);
    }
    EXPECT_EQ(closed, (Closed{2, 1}));
}

TEST_F(UniqueHandle, MovedOntoItselfKeepsItsHandle) {
    {
        Handle handle(3);
        Handle& same = handle;
        handle = std::move(same);
        EXPECT_EQ(handle.get(), 3);
        EXPECT_EQ(closed, Closed{});
    }
    EXPECT_EQ(closed, Closed{3});
}

TEST_F(UniqueHandle, ReleasedIsNotClosed) {
    {
        Handle handle(4);
        EXPECT_EQ(handle.release(), 4);
        EXPECT_FALSE(handle);
    }
    EXPECT_EQ(closed, Closed{});
}

TEST_F(UniqueHandle, ResetClosesTheOldOne) {
    Handle handle(5);
    handle.reset(6);
    EXPECT_EQ(closed, Closed{5});
    handle.reset();
    handle.reset();
    EXPECT_EQ(closed, (Closed{5, 6}));
}

// Members that move: a handle in a growing vector is closed once, with the vector.
TEST_F(UniqueHandle, SurvivesAGrowingVector) {
    static_assert(!std::is_copy_constructible_v<Handle> &&
                  std::is_nothrow_move_constructible_v<Handle>);
    {
        std::vector<Handle> handles;
        for (int i = 0; i < 100; ++i) handles.emplace_back(i);
        EXPECT_EQ(closed, Closed{});
    }
    EXPECT_EQ(closed.size(), 100U);
}

}  // namespace
}  // namespace ranklab::base
