#include "base/log.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "base/terminal.hpp"
#include "base/text.hpp"

namespace ranklab::base::log {
namespace {

std::string& tag() {
    static std::string text;
    return text;
}

MessageFormatter& formatter() {
    static MessageFormatter current = [](std::string sentence, const Settings&) {
        return sentence;
    };
    return current;
}

// Messages quote file names and values, which may hold control characters. One call writes the
// line, so that lines of several threads do not mix. A failure is ignored: stderr may be closed.
void write(std::string_view severity, std::string_view message) {
    const std::string line =
        fmt::format("{}{}{}{}\n", severity, tag(), tag().empty() ? "" : ": ", one_line(message));
    std::fputs(line.c_str(), stderr);
}

}  // namespace

void set_rank(int rank, std::string_view host) {
    tag() = fmt::format("rank {} on {}", rank, host);
}
void info(std::string_view message) {
    write("", message);
}
void warn(std::string_view message) {
    static const bool coloured = shows_colour(STDERR_FILENO);
    write(coloured ? "\033[33mwarning\033[0m: " : "warning: ", message);
}
void error(std::string sentence, const Settings& settings) {
    write("", formatter()(std::move(sentence), settings));
}
void set_message_formatter(MessageFormatter chosen) {
    formatter() = chosen;
}

}  // namespace ranklab::base::log
