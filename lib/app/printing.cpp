#include "app/printing.hpp"

#include <cstdio>

#include "base/error.hpp"

namespace ranklab::app {

void print_text(std::string_view text) {
    static_cast<void>(std::fwrite(text.data(), 1, text.size(), stdout));  // stdout remembers a failure
}

void print_whole(std::string_view text) {
    std::clearerr(stdout);  // of an earlier line that did not matter
    print_text(text);
    check_printed();
}

void print_progress(const std::string& line) {
    fmt::print(stderr, "{}\n", line);
}

void check_printed() {
    const bool flushed = std::fflush(stdout) == 0;
    if (flushed && std::ferror(stdout) == 0) return;
    std::clearerr(stdout);
    throw base::EnvironmentError(
        "what was to be shown could not be written to stdout; is its disk full or the pipe closed?");
}

}  // namespace ranklab::app
