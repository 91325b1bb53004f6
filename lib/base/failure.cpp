#include "base/failure.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <array>
#include <filesystem>
#include <new>
#include <stdexcept>
#include <string_view>
#include <system_error>

namespace ranklab::base {
namespace {

// A library's what() may be a page of backtrace: its first line is the sentence.
std::string first_line(const std::string& text) {
    return text.substr(0, text.find('\n'));
}

// "" or which limit of the process is the likely reason.
std::string limit_text() {
    rlimit limit{};
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return "";
    return fmt::format(", or raise the limit of the address space, now {} MiB (ulimit -v)",
                       limit.rlim_cur >> 20U);
}

Failure out_of_memory() {
    return {fmt::format("out of memory: use a smaller --batch-size, or fewer ranks per node{}", limit_text()),
            ExitCode::environment};
}

// LibTorch's allocators throw c10::Error, which this room does not know, for a block that they do not get.
bool is_about_memory(std::string_view what) {
    constexpr auto kWords = std::to_array<std::string_view>(
        {"can't allocate memory", "not enough memory", "out of memory", "Cannot allocate memory"});
    for (const auto word : kWords) {
        if (what.find(word) != std::string_view::npos) return true;
    }
    return false;
}

}  // namespace

Failure describe_failure(const std::exception& error) {
    if (const auto* ours = dynamic_cast<const Error*>(&error)) return {ours->what(), ours->code()};
    if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr ||
        dynamic_cast<const std::length_error*>(&error) != nullptr || is_about_memory(error.what()))
        return out_of_memory();
    if (const auto* file = dynamic_cast<const std::filesystem::filesystem_error*>(&error))
        return {fmt::format("{} cannot be used: {}; look at its permissions and its links",
                            file->path1().string(), file->code().message()),
                ExitCode::environment};
    const auto* system = dynamic_cast<const std::system_error*>(&error);
    if (system != nullptr && system->code() == std::errc::resource_unavailable_try_again)
        return {fmt::format("a thread could not be started: use fewer --threads or --workers, or raise the "
                            "limit of processes (ulimit -u){}",
                            limit_text()),
                ExitCode::environment};
    return {fmt::format("internal error: {}", first_line(error.what())), ExitCode::internal};
}

}  // namespace ranklab::base
