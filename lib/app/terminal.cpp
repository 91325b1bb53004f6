#include "app/terminal.hpp"

#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

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

}  // namespace

TerminalProgress::TerminalProgress(bool speaks)
    : speaks_(speaks), terminal_(isatty(STDERR_FILENO) != 0), start_(Clock::now()), last_shown_(start_) {}

void TerminalProgress::update(std::int64_t done, std::int64_t total, double rate, std::string_view rate_unit,
                              std::string_view note) {
    beat_unless_waiting();
    if (!speaks_) return;
    const auto now = Clock::now();
    if (done == 1) start_ = now;  // the first step is slow: it must not bend the time left
    if (now - last_shown_ < (terminal_ ? Clock::duration(kBetweenRedraws) : Clock::duration(kBetweenLines)) &&
        done != total)
        return;
    if (!terminal_ && done == total && now - start_ < kBetweenLines) return;
    last_shown_ = now;
    const double per_unit = std::chrono::duration<double>(now - start_).count() /
                            static_cast<double>(std::max<std::int64_t>(1, done - 1));
    const std::string left = base::human_duration(per_unit * static_cast<double>(total - done));
    const std::string text =
        fmt::format("{}/{} {}  {:.0f} {}  {}  {} left", done, total, noun_, rate, rate_unit, note, left);
    if (terminal_) {
        const int filled = static_cast<int>(kBarWidth * done / std::max<std::int64_t>(1, total));
        fmt::print(stderr, "\r\033[K[{:=<{}}{: <{}}] {}", "", filled, "", kBarWidth - filled, text);
        line_open_ = true;
    } else {
        fmt::print(stderr, "{}\n", text);
    }
    std::fflush(stderr);
}

void TerminalProgress::activity(std::string_view what) {
    beat_unless_waiting();
    const std::lock_guard lock(mutex_);
    if (activity_ != what) activity_ = what;
}

void TerminalProgress::finish() {
    if (!line_open_) return;
    fmt::print(stderr, "\r\033[K");
    std::fflush(stderr);
    line_open_ = false;
}

std::string TerminalProgress::last_activity() const {
    const std::lock_guard lock(mutex_);
    return activity_;
}

}  // namespace ranklab::app
