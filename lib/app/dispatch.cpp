#include <unistd.h>

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "app/command_line.hpp"
#include "app/programs.hpp"
#include "base/error.hpp"
#include "base/program.hpp"

namespace ranklab::app {
namespace {

constexpr std::string_view kOverview =
    "ranklab ";  // begins the commands' texts for `ranklab --help`

[[noreturn]] void replace_by(const std::string& command, char** argv) {
    const auto program = base::program_beside("ranklab-" + command);
    if (!std::filesystem::exists(program)) {
        throw base::EnvironmentError(
            fmt::format("{} is not in this build; build it (train needs LibTorch: "
                        "RANKLAB_WITH_TORCH)",
                        program.string()));
    }
    execv(program.c_str(), argv);
    throw base::EnvironmentError(
        fmt::format("{} cannot be started: {}", program.string(), std::strerror(errno)));
}

}  // namespace

int dispatch(int argc, char** argv) {
    CommandGroup all{"",
                     "Measures how a cluster computes, communicates and writes, on real work.",
                     "[options]",
                     {}};
    for (auto text : program_texts())
        if (text.command.starts_with(kOverview)) {
            text.command.erase(0, kOverview.size());
            all.verbs.push_back({std::move(text), {}});
        }
    const auto start = [&](const Command& verb, const Words&) -> int {
        replace_by(verb.text.command, argv + 1);
    };
    return run_verbs(all, arguments_of(argc, argv), start);
}

}  // namespace ranklab::app
