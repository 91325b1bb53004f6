#include "base/failure.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <array>
#include <filesystem>
#include <new>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/text.hpp"

namespace ranklab::base {
namespace {

// A library's what() may be a page of backtrace: its first line is the sentence.
std::string first_line(const std::string& text) {
    return text.substr(0, text.find('\n'));
}

Remedies& of_program() {
    static Remedies remedies;
    return remedies;
}
int ranks_on_node = 1;

// The program's own, then what helps anywhere.
std::string choice_of(std::vector<std::string> remedies, const std::string& otherwise) {
    if (ranks_on_node > 1) remedies.emplace_back("use fewer ranks per node");
    rlimit limit{};
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        remedies.push_back(fmt::format("raise the limit of the address space, now {} MiB (ulimit -v)",
                                       limit.rlim_cur >> 20U));
    if (remedies.empty()) return otherwise;
    const std::string last = remedies.back();
    remedies.pop_back();
    return remedies.empty() ? last : join(remedies, ", ") + ", or " + last;
}

Failure out_of_memory() {
    return {"out of memory: " + choice_of(of_program().memory, "run it where more of it is free"),
            ExitCode::environment};
}

Failure out_of_threads() {
    auto remedies = of_program().threads;
    remedies.emplace_back("raise the limit of processes (ulimit -u)");
    return {"a thread could not be started: " + choice_of(remedies, ""), ExitCode::environment};
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

void set_remedies(Remedies remedies) {
    of_program() = std::move(remedies);
}

void set_ranks_on_node(int ranks) {
    ranks_on_node = ranks;
}

Failure describe_failure(const std::exception& error) {
    if (const auto* ours = dynamic_cast<const Error*>(&error))
        return {ours->what(), ours->code(), ours->settings()};
    if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr ||
        dynamic_cast<const std::length_error*>(&error) != nullptr || is_about_memory(error.what()))
        return out_of_memory();
    if (const auto* file = dynamic_cast<const std::filesystem::filesystem_error*>(&error))
        return {fmt::format("{} cannot be used: {}; look at its permissions and its links",
                            file->path1().string(), file->code().message()),
                ExitCode::environment};
    const auto* system = dynamic_cast<const std::system_error*>(&error);
    if (system != nullptr && system->code() == std::errc::resource_unavailable_try_again)
        return out_of_threads();
    return {fmt::format("internal error: {}", first_line(error.what())), ExitCode::internal};
}

}  // namespace ranklab::base
