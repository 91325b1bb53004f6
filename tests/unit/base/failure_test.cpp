#include "base/error.hpp"

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>
#include <system_error>
#include <vector>

namespace ranklab::base {
namespace {

TEST(Failure, OursKeepSentenceAndCode) {
    const auto failure = describe_failure(DataError("it is damaged"));
    EXPECT_EQ(failure.sentence, "it is damaged");
    EXPECT_EQ(failure.code, ExitCode::wrong_data);
}

TEST(Failure, NoMemoryIsTheSurroundings) {
    std::string beyond;
    try {
        std::vector<char>().reserve(std::vector<char>().max_size() + 1);
    } catch (const std::exception& error) {
        beyond = describe_failure(error).sentence;
    }
    EXPECT_EQ(beyond.substr(0, 13), "out of memory");
    const std::runtime_error torch(
        "[enforce fail at alloc_cpu.cpp:117] err == 0. DefaultCPUAllocator: can't allocate memory: "
        "you tried to allocate 4000000000000 bytes. Error code 12 (Cannot allocate memory)\nframe "
        "#0: ...");
    for (const auto& failure : {describe_failure(std::bad_alloc()), describe_failure(torch)}) {
        EXPECT_EQ(failure.sentence.substr(0, 13), "out of memory");
        EXPECT_EQ(failure.sentence.find('\n'), std::string::npos);
        EXPECT_EQ(failure.code, ExitCode::environment);
    }
}

TEST(Failure, NoThreadIsTheSurroundings) {
    const auto failure = describe_failure(std::system_error(
        std::make_error_code(std::errc::resource_unavailable_try_again), "thread"));
    EXPECT_NE(failure.sentence.find("ulimit -u"), std::string::npos);
    EXPECT_EQ(failure.code, ExitCode::environment);
}

TEST(Failure, WhatIsNotKnownIsInternal) {
    const auto failure = describe_failure(std::logic_error("a bug\nframe #0"));
    EXPECT_EQ(failure.sentence, "internal error: a bug");
    EXPECT_EQ(failure.code, ExitCode::internal);
}

}  // namespace
}  // namespace ranklab::base
