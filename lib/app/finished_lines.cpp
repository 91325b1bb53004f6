#include "app/finished_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/wrap.hpp"

namespace ranklab::app {
namespace {

constexpr std::size_t kIndent = 4;  // of what does not fit into the first line

}  // namespace

void FinishedLines::add(std::string_view line, std::size_t columns) {
    waiting_ += wraps_ ? base::wrapped(std::string(kIndent, ' '), line, columns).substr(kIndent)
                       : std::string(line) + '\n';
}

std::string FinishedLines::due(Clock::time_point now, bool at_once) {
    if (waiting_.empty() || (!erasable_ && !at_once && now - last_ < pace_)) return "";
    last_ = now;
    const std::string lines = std::exchange(waiting_, {});
    shown_ += lines;
    return lines;
}

std::string FinishedLines::rest() {
    const std::string lines = std::exchange(held_, {}) + std::exchange(waiting_, {});
    shown_ += lines;
    return lines;
}

std::string FinishedLines::wipe(bool others_spoke, std::size_t screen_rows) {
    const std::string shown = std::exchange(shown_, {});
    const auto rows = std::min(static_cast<std::size_t>(std::ranges::count(shown, '\n')), screen_rows - 1);
    const bool wipes = erasable_ && !others_spoke && rows > 0;
    held_ = (wipes ? shown : "") + std::exchange(waiting_, {});
    return wipes ? fmt::format("\r\033[{}A\033[J", rows) : "";
}

}  // namespace ranklab::app
