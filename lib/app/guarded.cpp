#include "app/guarded.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <exception>

#include "app/printing.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "comm/exchange.hpp"
#include "options/schema.hpp"

namespace ranklab::app {
namespace {

// glibc gives blocks above 128 KiB back to the kernel at every free, and the next step faults them in again.
// Older ones take no more than 32 MiB here.
constexpr int kKeepBytes[] = {1 << 30, 32 << 20};

// Where the caller has closed one of the standard streams, the next file that is opened would take its place,
// and what is printed would go into it. What cannot be written to says so to those who write.
void hold_standard_streams() {
    for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor) {
        if (::fcntl(descriptor, F_GETFD) < 0 && errno == EBADF)
            static_cast<void>(::open("/dev/null", descriptor == STDERR_FILENO ? O_WRONLY : O_RDONLY));
    }
}

}  // namespace

int code_of_current_exception() {
    try {
        throw;
    } catch (const comm::PeerError& error) {
        return static_cast<int>(error.code());  // the rank that failed has said why
    } catch (const std::exception& error) {
        const auto failure = base::describe_failure(error);
        base::log::error(failure.sentence, failure.settings);
        return static_cast<int>(failure.code);
    }
}

int guarded(const std::function<int()>& work) {
    try {
        const int code = work();
        if (code == 0) check_printed();
        return code;
    } catch (...) {
        return code_of_current_exception();
    }
}

void prepare_process() {
    hold_standard_streams();
    base::log::set_teller(options::told);
    std::signal(SIGXFSZ, SIG_IGN);
    std::signal(SIGPIPE, SIG_IGN);
    allocator_settings();
}

std::string allocator_settings() {
    static const std::string settings = [] {
        for (const int bytes : kKeepBytes) {
            if (mallopt(M_MMAP_THRESHOLD, bytes) == 1 && mallopt(M_TRIM_THRESHOLD, bytes) == 1) {
                return fmt::format("glibc mallopt: mmap and trim thresholds {} MiB", bytes >> 20);
            }
        }
        return std::string("defaults");
    }();
    return settings;
}

}  // namespace ranklab::app
