#include "app/terminal.hpp"

#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "base/text.hpp"

namespace ranklab::app {
namespace {

constexpr auto kBetweenRedraws = std::chrono::milliseconds(100);
constexpr auto kBetweenLines = std::chrono::seconds(5);
constexpr int kBarWidth = 30;

// Who tells what it does while it waits for other ranks has done nothing.
void beat_unless_waiting() {
    if (base::detail::own_note().waits.load(std::memory_order_relaxed) == 0) base::beat();
}

// That nobody sees it is no reason to end the work.
void show(const std::string& text) {
    std::fputs(text.c_str(), stderr);
    std::fflush(stderr);
}

}  // namespace

bool shows_colour(int descriptor) {
    const char* const none = std::getenv("NO_COLOR");
    const char* const kind = std::getenv("TERM");
    if (none != nullptr && *none != '\0') return false;
    // Open MPI gives each rank a terminal of its own, wherever mpirun's output goes.
    if (std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr) return false;
    return kind != nullptr && *kind != '\0' && std::string_view(kind) != "dumb" && isatty(descriptor) != 0;
}

TerminalProgress::TerminalProgress(bool speaks)
    : speaks_(speaks), terminal_(isatty(STDERR_FILENO) != 0), last_shown_(Clock::now()) {}

void TerminalProgress::update(std::int64_t done, std::int64_t total, double rate, std::string_view rate_unit,
                              std::string_view note) {
    beat_unless_waiting();
    if (!speaks_) return;
    const auto now = Clock::now();
    time_left_.begin_anew_if(done, now);
    if (now - last_shown_ < (terminal_ ? Clock::duration(kBetweenRedraws) : Clock::duration(kBetweenLines)) &&
        done != total)
        return;
    if (!terminal_ && done == total && now - time_left_.began() < kBetweenLines) return;
    last_shown_ = now;
    const auto left = time_left_.seconds(done, total, now);
    const std::string text = fmt::format("{}/{} {}  {:.0f} {}  {}{}", done, total, noun_, rate, rate_unit,
                                         note, left ? "  " + base::human_duration(*left) + " left" : "");
    if (terminal_) {
        const int filled = static_cast<int>(kBarWidth * done / std::max<std::int64_t>(1, total));
        show(fmt::format("\r\033[K[{:=<{}}{: <{}}] {}", "", filled, "", kBarWidth - filled, text));
        line_open_ = true;
    } else {
        show(text + '\n');
    }
}

void TerminalProgress::activity(std::string_view what) {
    beat_unless_waiting();
    const std::lock_guard lock(mutex_);
    if (activity_ != what) activity_ = what;
}

void TerminalProgress::finish() {
    if (!line_open_) return;
    show("\r\033[K");
    line_open_ = false;
}

std::string TerminalProgress::last_activity() const {
    const std::lock_guard lock(mutex_);
    return activity_;
}

}  // namespace ranklab::app
