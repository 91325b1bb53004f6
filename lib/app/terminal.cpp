#include "app/terminal.hpp"

#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "base/terminal.hpp"
#include "base/text.hpp"

namespace ranklab::app {
namespace {

constexpr auto kBetweenRedraws = std::chrono::milliseconds(100);
constexpr auto kBetweenLines = std::chrono::seconds(5);
constexpr auto kUntilTold = std::chrono::seconds(4);     // until silent work is reported
constexpr auto kBetweenTold = std::chrono::seconds(30);  // between reports as plain lines
constexpr std::size_t kShortestBar = 10, kLongestBar = 30;

// Ignores errors: the work goes on without a terminal.
void show(const std::string& text) {
    std::fputs(text.c_str(), stderr);
    std::fflush(stderr);
}

std::size_t columns_of_stderr() {
    return base::columns_of_terminal(STDERR_FILENO);
}

}  // namespace

std::string progress_text(const ProgressState& far) {
    const std::string then = far.then.empty() ? "" : fmt::format(", then {}", far.then);
    return fmt::format("{}/{} {}  {:.0f} {}  {}{}{}", far.done, far.total, far.noun, far.rate,
                       far.rate_unit, far.note,
                       far.left_s ? "  " + base::human_duration(*far.left_s) + " left" : "",
                       far.left_s ? then : "");
}

std::string progress_bar(const ProgressState& far, std::size_t columns) {
    constexpr std::size_t kAround = 3;  // brackets and a blank
    const std::string text = progress_text(far);
    if (base::columns_of(text) + kAround + kShortestBar > columns)
        return base::shortened(text, columns);
    const std::size_t bar = std::min(kLongestBar, columns - kAround - base::columns_of(text));
    const auto share =
        static_cast<double>(far.done) / static_cast<double>(std::max<std::int64_t>(1, far.total));
    const auto filled =
        static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * static_cast<double>(bar));
    return fmt::format("[{}{}] {}", std::string(filled, '='), std::string(bar - filled, ' '), text);
}

TerminalProgress::TerminalProgress() : terminal_(base::obeys_sequences(STDERR_FILENO)) {}

void TerminalProgress::speak() {
    const std::lock_guard lock(mutex_);
    speaks_ = true;
    last_shown_ = last_sign_ = activity_began_ = last_told_ = Clock::now();
}

void TerminalProgress::show_line(const std::string& text) {
    if (!terminal_) return show(text + '\n');
    show("\r\033[K" + text);
    line_open_ = true;
}

void TerminalProgress::take_the_bar_away() {
    if (line_open_) show("\r\033[K");
    line_open_ = false;
}

void TerminalProgress::update(std::int64_t done, std::int64_t total, double rate,
                              std::string_view rate_unit, std::string_view note) {
    base::count_progress();
    const std::lock_guard lock(mutex_);
    done_ = done;
    total_ = total;
    if (!speaks_) return;
    const auto now = Clock::now();
    hushed_ = false;
    last_sign_ = now;
    time_left_.begin_anew_if(done, now);
    const bool ends_now =
        done == total && done != last_done_;  // a waiting rank calls update() repeatedly at the end
    const auto between =
        terminal_ ? Clock::duration(kBetweenRedraws) : Clock::duration(kBetweenLines);
    last_done_ = done;
    if (now - last_shown_ < between && !ends_now) return;
    if (!terminal_ && done == total && now - time_left_.began() < kBetweenLines) return;
    last_shown_ = now;
    auto left = time_left_.seconds(done, total, now);
    if (left) *left += afterwards_s_;
    const ProgressState far{done, total, noun_, rate, rate_unit, note, left, unknown_};
    show_line(terminal_ ? progress_bar(far, columns_of_stderr() - 1) : progress_text(far));
}

void TerminalProgress::afterwards(double seconds, std::string_view unknown) {
    const std::lock_guard lock(mutex_);
    afterwards_s_ = seconds;
    unknown_ = unknown;
}

void TerminalProgress::counts(std::string_view noun) {
    const std::lock_guard lock(mutex_);
    noun_ = noun;
}

void TerminalProgress::activity(std::string_view what) {
    base::count_progress();
    const std::lock_guard lock(mutex_);
    if (activity_ == what) return;
    activity_ = what;
    total_ = 0;
    hushed_ = false;
    activity_began_ = last_sign_ = Clock::now();
}

void TerminalProgress::tick() {
    const std::lock_guard lock(mutex_);
    const auto now = Clock::now();
    if (!speaks_ || hushed_ || now - last_sign_ < kUntilTold) return;
    const bool first = last_told_ < last_sign_;
    if (!terminal_ && !first && now - last_told_ < kBetweenTold) return;
    last_told_ = now;
    const std::string text =
        fmt::format("now: {}, {}", activity_,
                    base::human_duration(base::seconds_between(activity_began_, now)));
    show_line(terminal_ ? base::shortened(text, columns_of_stderr() - 1) : text);
}

void TerminalProgress::finish() {
    const std::lock_guard lock(mutex_);
    hushed_ = true;
    last_done_ = -1;
    take_the_bar_away();
}

void TerminalProgress::line(const std::string& text) {
    const std::lock_guard lock(mutex_);
    take_the_bar_away();
    std::fputs((text + '\n').c_str(), stdout);
    std::fflush(stdout);
}

std::string TerminalProgress::doing() const {
    const std::lock_guard lock(mutex_);
    return total_ > 0 ? fmt::format("{}, {} of {} {}", activity_, done_, total_, noun_) : activity_;
}

}  // namespace ranklab::app
