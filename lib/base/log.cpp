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

MessageFormatter& formatter() {
    static MessageFormatter current = [](std::string sentence, const Settings&) {
        return sentence;
    };
    return current;
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

void write(std::string_view severity, std::string_view message) {
    static const bool coloured = shows_colour(STDERR_FILENO);
    const std::string_view gap = tag().empty() ? "" : ": ";
    if (!severity.empty() && coloured) severity = "\033[33mwarning\033[0m: ";
    // Messages quote file names and values, which may hold control characters.
    logger().info("{}{}{}{}", severity, tag(), gap, one_line(message));
}

}  // namespace

void set_rank(int rank, std::string_view host) {
    tag() = fmt::format("rank {} on {}", rank, host);
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
    error(formatter()(std::move(sentence), settings));
}
void set_message_formatter(MessageFormatter chosen) {
    formatter() = chosen;
}

}  // namespace ranklab::base::log
