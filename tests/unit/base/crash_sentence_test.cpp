// What a crash says, and that it stays a crash where nobody has something to say.
#include "base/crash_sentence.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <thread>

#include "base/last_words.hpp"

namespace ranklab::base {
namespace {

// A sanitizer's own handlers would turn crashes into reports of its kind.
const bool kPlainSignals = [] {
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) ::signal(signal, SIG_DFL);
    return true;
}();

void limit(int what, rlim_t most) {
    const rlimit both{most, most};
    setrlimit(static_cast<__rlimit_resource>(what), &both);
}

// A crash on purpose leaves no core behind.
void crash_by(int signal) {
    limit(RLIMIT_CORE, 0);
    raise(signal);
}

const std::string kSentence = "f.h5 is forged";
const std::string kOther = "g.h5 is forged";

class CrashSentenceDeathTest : public ::testing::TestWithParam<int> {};

TEST_P(CrashSentenceDeathTest, EndsWithTheSentenceAndWrongData) {
    EXPECT_EXIT(
        {
            const CrashSentence sentence(kSentence);
            crash_by(GetParam());
        },
        ::testing::ExitedWithCode(3), "^f.h5 is forged\n$");
}

TEST_P(CrashSentenceDeathTest, BehindItACrashIsACrash) {
    EXPECT_EXIT(
        {
            { const CrashSentence sentence(kSentence); }
            crash_by(GetParam());
        },
        ::testing::KilledBySignal(GetParam()), "^$");
}

INSTANTIATE_TEST_SUITE_P(Signals, CrashSentenceDeathTest,
                         ::testing::Values(SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT));

TEST(CrashSentence, TheInnermostSpeaksAndTheOuterAgainAfterIt) {
    EXPECT_EXIT(
        {
            const CrashSentence outer(kSentence);
            const CrashSentence inner(kOther);
            crash_by(SIGSEGV);
        },
        ::testing::ExitedWithCode(3), "^g.h5 is forged\n$");
    EXPECT_EXIT(
        {
            const CrashSentence outer(kSentence);
            { const CrashSentence inner(kOther); }
            crash_by(SIGSEGV);
        },
        ::testing::ExitedWithCode(3), "^f.h5 is forged\n$");
}

TEST(CrashSentence, OfLostPagesLeavesOtherCrashesAlone) {
    const auto crash_with = [](int signal) {
        const CrashSentence sentence(kSentence, CrashSentence::For::lost_pages);
        crash_by(signal);
    };
    EXPECT_EXIT(crash_with(SIGBUS), ::testing::ExitedWithCode(3), "f.h5 is forged");
    EXPECT_EXIT(crash_with(SIGSEGV), ::testing::KilledBySignal(SIGSEGV), "^$");
}

TEST(CrashSentence, IsOfItsThreadAlone) {
    EXPECT_EXIT(
        {
            const CrashSentence sentence(kSentence);
            std::thread([] { crash_by(SIGSEGV); }).join();
        },
        ::testing::KilledBySignal(SIGSEGV), "^$");
    EXPECT_EXIT(std::thread([] {
                    const CrashSentence sentence(kSentence);
                    crash_by(SIGSEGV);
                }).join(),
                ::testing::ExitedWithCode(3), "f.h5 is forged");
}

TEST(CrashSentence, SaysTheLastWordsToo) {
    EXPECT_EXIT(
        {
            LastWords words;
            words.set("the run lies in r.h5.pending");
            const CrashSentence sentence(kSentence);
            crash_by(SIGSEGV);
        },
        ::testing::ExitedWithCode(3), "^f.h5 is forged\nthe run lies in r.h5.pending\n$");
}

// NOLINTNEXTLINE(misc-no-recursion): that is what uses up a stack
int deeper(volatile const char* above) {
    volatile char room[4096];
    room[0] = *above;
    return *above == 'x' ? deeper(room) + room[0] : 0;
}

TEST(CrashSentence, IsSaidWhereTheStackIsUsedUp) {
    EXPECT_EXIT(
        {
            const CrashSentence sentence(kSentence);
            limit(RLIMIT_CORE, 0);
            limit(RLIMIT_STACK, 8U << 20U);
            deeper("x");
        },
        ::testing::ExitedWithCode(3), "f.h5 is forged");
}

}  // namespace
}  // namespace ranklab::base
