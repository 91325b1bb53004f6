#include "base/log.hpp"

#include <fmt/format.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "base/one_line.hpp"

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

void write(std::string_view severity, std::string_view message) {
    const std::string_view gap = tag().empty() ? "" : ": ";
    // Sentences name files and values of others.
    logger().info("{}{}{}{}", severity, tag(), gap, one_line(message));
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
