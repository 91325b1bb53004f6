#include "base/log.hpp"

#include <fmt/format.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <string>

#include "base/text.hpp"

namespace ranklab::base::log {
namespace {

std::string& tag() {
    static std::string text;
    return text;
}

spdlog::logger& logger() {
    static auto instance = [] {
        auto created =
            std::make_shared<spdlog::logger>("ranklab", std::make_shared<spdlog::sinks::stderr_sink_mt>());
        created->set_pattern("%v");
        created->flush_on(spdlog::level::trace);
        return created;
    }();
    return *instance;
}

// Messages quote names and values that others gave. One message is one line, and nothing in it moves the
// terminal's cursor, rings its bell or changes its colours.
std::string fit_for_terminal(std::string_view message) {
    std::string line = valid_utf8(message);
    for (char& c : line)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
    constexpr std::string_view kC1 = "\xC2";  // U+0080 to U+009F: controls too, such as CSI
    for (std::size_t at = 0; (at = line.find(kC1, at)) != std::string::npos; ++at)
        if (static_cast<unsigned char>(line[at + 1]) < 0xA0) line.replace(at, 2, "?");
    return line;
}

void write(std::string_view severity, std::string_view message) {
    const std::string_view gap = tag().empty() ? "" : ": ";
    logger().info("{}{}{}{}", severity, tag(), gap, fit_for_terminal(message));
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
    write("warning: ", message);
}
void error(std::string_view message) {
    write("", message);
}

}  // namespace ranklab::base::log
