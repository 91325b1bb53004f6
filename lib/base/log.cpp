#include "base/log.hpp"

#include <fmt/format.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <utility>

#include "base/terminal.hpp"
#include "base/text.hpp"

namespace ranklab::base::log {
namespace {

constexpr std::string_view kWarning = "warning: ";

std::string& tag() {
    static std::string text;
    return text;
}

Teller& teller() {
    static Teller tell = [](std::string sentence, const Settings&) { return sentence; };
    return tell;
}

spdlog::logger& logger() {
    static auto instance = [] {
        auto created = std::make_shared<spdlog::logger>(
            "ranklab", std::make_shared<spdlog::sinks::stderr_sink_mt>());
        created->set_pattern("%v");
        created->flush_on(spdlog::level::trace);
        return created;
    }();
    return *instance;
}

// Shortens a message with a very long name or value: its beginning and its end stay.
std::string readable(std::string_view message) {
    constexpr std::size_t kBegin = 1200;
    constexpr std::size_t kEnd = 600;
    const std::string line = one_line(message);
    if (line.size() <= kBegin + kEnd) return line;
    // Once more where a letter was cut.
    return one_line(line.substr(0, kBegin)) + " ... " + one_line(line.substr(line.size() - kEnd));
}

std::string fitting(const std::string& sentence) {
    if (!wraps_lines(STDERR_FILENO)) return sentence;
    return broken(sentence, columns_of_terminal(STDERR_FILENO));
}

void write(std::string_view severity, std::string_view message) {
    static const bool coloured = shows_colour(STDERR_FILENO);
    const std::string_view gap = tag().empty() ? "" : ": ";
    // Sentences name files and values of others.
    std::string lines = fitting(fmt::format("{}{}{}{}", severity, tag(), gap, readable(message)));
    if (!severity.empty() && coloured)
        lines.replace(0, kWarning.size(), "\033[33mwarning\033[0m: ");
    logger().info("{}", lines);
}

}  // namespace

void set_rank(int rank, std::string_view host) {
    tag() = fmt::format("rank {} on {}", rank, host);
}
std::string where() {
    return tag();
}
void info(std::string_view message) {
    write("", message);
}
void warn(std::string_view message) {
    write(kWarning, message);
}
void error(std::string_view message) {
    write("", message);
}
void error(std::string sentence, const Settings& settings) {
    error(teller()(std::move(sentence), settings));
}
void set_teller(Teller tell) {
    teller() = tell;
}

}  // namespace ranklab::base::log
