#include "app/reading_child.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "app/session.hpp"
#include "base/error.hpp"

namespace ranklab::app {
namespace {

[[noreturn]] void be_the_child(pid_t parent, const std::function<int()>& work) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);  // it died before it was asked to take us along
    std::exit(guarded(work));
}

int status_of(pid_t child) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR)
            throw base::Error(fmt::format("internal: waitpid failed: {}", std::strerror(errno)));
    }
    return status;
}

bool is_crash(int signal) {
    constexpr int kCrashes[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
    return std::find(std::begin(kCrashes), std::end(kCrashes), signal) != std::end(kCrashes);
}

}  // namespace

int in_child(const std::function<int()>& work) {
    std::fflush(nullptr);  // otherwise both would write it
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child < 0)
        throw base::EnvironmentError(fmt::format(
            "no process could be started to read the files: {}; raise the limit of processes (ulimit -u)",
            std::strerror(errno)));
    if (child == 0) be_the_child(parent, work);
    const int status = status_of(child);
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    const int signal = WTERMSIG(status);
    if (!is_crash(signal)) {
        ::signal(signal, SIG_DFL);
        raise(signal);
    }
    throw base::DataError(fmt::format(
        "the process that read the files crashed (signal {}), as a damaged or forged file can make HDF5 do; "
        "nothing was changed: `ranklab results check FILE` tells of each file alone, and a copy of it from "
        "before helps",
        signal));
}

}  // namespace ranklab::app
