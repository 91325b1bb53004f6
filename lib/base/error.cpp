#include "base/error.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <new>
#include <string_view>
#include <system_error>

namespace ranklab::base {
namespace {

// A library's what() may hold a backtrace from the second line on.
std::string first_line(const std::string& text) {
    return text.substr(0, text.find('\n'));
}

constexpr const char* kNoMemory =
    "out of memory; take smaller batches, records or files, fewer ranks per node, or raise the "
    "limit (ulimit -v)";
constexpr const char* kNoThread =
    "no thread can be started; take fewer threads or ranks per node, or raise the limits "
    "(ulimit -u, ulimit -v)";

// Judges by the text: LibTorch's allocators throw c10::Error if out of memory, a type that lib/base
// does not know.
bool is_about_memory(std::string_view what) {
    constexpr auto kWords = std::to_array<std::string_view>(
        {"can't allocate memory", "not enough memory", "out of memory", "Cannot allocate memory"});
    return std::ranges::any_of(
        kWords, [&](auto word) { return what.find(word) != std::string_view::npos; });
}

}  // namespace

Failure describe_failure(const std::exception& error) {
    if (const auto* ours = dynamic_cast<const Error*>(&error))
        return {ours->what(), ours->code(), ours->settings()};
    if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr ||
        dynamic_cast<const std::length_error*>(&error) != nullptr || is_about_memory(error.what()))
        return {kNoMemory, ExitCode::environment};
    if (const auto* file = dynamic_cast<const std::filesystem::filesystem_error*>(&error))
        return {fmt::format("{} cannot be used: {}; check its permissions and links",
                            file->path1().string(), file->code().message()),
                ExitCode::environment};
    const auto* system = dynamic_cast<const std::system_error*>(&error);
    if (system != nullptr && system->code() == std::errc::resource_unavailable_try_again)
        return {kNoThread, ExitCode::environment};
    return {fmt::format("internal error: {}", first_line(error.what())), ExitCode::internal};
}

}  // namespace ranklab::base
