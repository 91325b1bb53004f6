// Runs a function in a forked process, for tests that set limits, are killed or mount file systems.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <functional>

namespace ranklab::results {

inline constexpr int kChildFailed = 99;

/// The child exits with the result of `body`. After an exception it prints it and exits with
/// kChildFailed.
inline pid_t start_child(const std::function<int()>& body) {
    std::fflush(nullptr);
    const pid_t child = ::fork();
    if (child != 0) return child;
    int code = kChildFailed;
    try {
        code = body();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "child: %s\n", error.what());
    }
    std::_Exit(code);
}

inline int wait_for(pid_t child) {
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

inline int in_child(const std::function<int()>& body) {
    return wait_for(start_child(body));
}

}  // namespace ranklab::results
