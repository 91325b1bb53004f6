// What a child that reads files comes to, as its parent tells it.
#include "app/reading_child.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/error.hpp"
#include "thrown_sentence.hpp"

namespace ranklab::app {
namespace {

// A crash on purpose leaves no core behind.
void die_by(int signal) {
    const rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    ::signal(signal, SIG_DFL);
    raise(signal);
}

TEST(ReadingChild, ItsCodeIsTheCode) {
    EXPECT_EQ(in_child([] { return 0; }), 0);
    EXPECT_EQ(in_child([] { return 4; }), 4);
    const pid_t here = getpid();
    EXPECT_EQ(in_child([here] { return getpid() == here ? 1 : 0; }), 0) << "it is another process";
}

TEST(ReadingChild, ItsErrorIsSaidThereAndItsCodeComesBack) {
    ::testing::internal::CaptureStderr();
    const int code = in_child([]() -> int { throw base::DataError("f.h5 is damaged"); });
    EXPECT_EQ(code, 3);
    EXPECT_EQ(::testing::internal::GetCapturedStderr(), "f.h5 is damaged\n");
}

TEST(ReadingChild, ACrashIsDamagedData) {
    for (const int signal : {SIGSEGV, SIGBUS, SIGABRT}) {
        const auto sentence = tests::thrown_sentence<base::DataError>([&] {
            in_child([&] {
                die_by(signal);
                return 0;
            });
        });
        EXPECT_NE(sentence.find("crashed"), std::string::npos) << sentence;
    }
}

TEST(ReadingChildDeathTest, AnotherSignalEndsTheParentToo) {
    EXPECT_EXIT(in_child([] {
                    raise(SIGKILL);
                    return 0;
                }),
                ::testing::KilledBySignal(SIGKILL), "");
}

}  // namespace
}  // namespace ranklab::app
