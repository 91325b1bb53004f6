// What a process says when signals end it, or MPI_Abort.
#include "base/last_words.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <functional>
#include <memory>
#include <string>

#include "base/stop_signals.hpp"

namespace ranklab::base {
namespace {

std::string said(const std::function<void()>& work) {
    ::testing::internal::CaptureStderr();
    work();
    return ::testing::internal::GetCapturedStderr();
}

TEST(LastWords, AllAreSaidOnce) {
    EXPECT_EQ(said([] {
                  LastWords one;
                  one.set("one");
                  LastWords::say();
                  LastWords::say();
              }),
              "one\n");
}

// As of the runs of a ladder that failed: each says what there is before it goes.
TEST(LastWords, WhatWasSaidIsNotSaidAgainWhenOneGoes) {
    EXPECT_EQ(said([] {
                  auto first = std::make_unique<LastWords>();
                  auto second = std::make_unique<LastWords>();
                  first->set("kept");
                  second->set("kept");
                  LastWords::say();
                  first.reset();
                  LastWords::say();
                  second.reset();
                  LastWords::say();
              }),
              "kept\nkept\n");
}

TEST(LastWords, WhatIsSetAfterwardsIsSaid) {
    EXPECT_EQ(said([] {
                  LastWords early;
                  LastWords late;
                  early.set("early");
                  LastWords::say();
                  late.set("late");
                  LastWords::say();
              }),
              "early\nlate\n");
}

TEST(LastWords, WhatIsTakenBackIsNotSaid) {
    EXPECT_EQ(said([] {
                  LastWords one;
                  one.set("one");
                  one.set("one");
                  one.set("");
                  LastWords::say();
              }),
              "");
}

// Ctrl-C twice: the first is heard by the work, which does not end soon enough.
TEST(LastWordsDeathTest, ASecondSignalSaysThemToo) {
    EXPECT_EXIT(
        {
            LastWords::listen_to_signals();
            LastWords words;
            words.set("it is in that file");
            const StopSignals stop;
            std::raise(SIGTERM);
            if (StopSignals::received() == SIGTERM) std::raise(SIGTERM);
        },
        ::testing::KilledBySignal(SIGTERM), "it is in that file");
}

}  // namespace
}  // namespace ranklab::base
