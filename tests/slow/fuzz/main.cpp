// ranklab-fuzz: docs/fuzzing.md.
//   ranklab_fuzz FORMAT|all [--count N] [--seed S] [--first N] [--jobs N] [--keep DIR] [--cpu-limit S]
//                           [--memory-limit MIB] [--work DIR]
// Ends with 1 where something was found.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <fstream>
#include <map>
#include <regex>
#include <stdexcept>
#include <thread>

#include "base/text.hpp"
#include "fuzz/crew.hpp"
#include "temp_folder.hpp"

namespace {

namespace fs = std::filesystem;
using namespace ranklab::fuzz;

struct Asked {
    std::vector<std::string> formats;
    std::size_t count = 1000;
    std::uint64_t seed = 1;
    std::size_t first = 0;
    std::size_t jobs = std::max(1U, std::thread::hardware_concurrency());
    fs::path keep;
    Limits limits;
};

constexpr std::size_t kKeptOfAKind = 5;

Asked asked_of(const std::vector<std::string>& words) {
    Asked asked;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string& word = words[i];
        if (!word.starts_with("--")) {
            asked.formats.push_back(word);
            continue;
        }
        if (i + 1 == words.size()) throw std::runtime_error(word + " needs a value");
        const std::string& value = words[++i];
        if (word == "--count")
            asked.count = std::stoull(value);
        else if (word == "--seed")
            asked.seed = std::stoull(value);
        else if (word == "--first")
            asked.first = std::stoull(value);
        else if (word == "--jobs")
            asked.jobs = std::stoull(value);
        else if (word == "--keep")
            asked.keep = fs::absolute(value);
        else if (word == "--cpu-limit")
            asked.limits.cpu_s = std::stod(value);
        else if (word == "--memory-limit")
            asked.limits.bytes = std::stoull(value) << 20U;
        else
            throw std::runtime_error("there is no " + word);
    }
    if (asked.formats.empty()) throw std::runtime_error("which format? one of those below, or all");
    return asked;
}

// Findings of one cause read alike but for their numbers and addresses.
std::string alike(const Failure& failure) {
    std::string text = failure.kind + " " + failure.detail;
    text = text.substr(0, text.find("\n    #4 "));
    text = std::regex_replace(text, std::regex("0x[0-9a-f]+|[0-9]+"), ".");
    return text.substr(0, 300);
}

void keep(const Mutants& mutants, const Found& found, const Asked& asked, const fs::path& scratch) {
    if (asked.keep.empty()) return;
    fs::create_directories(asked.keep);
    const Input input = mutants.make(found.number, scratch, found.edits);
    const std::string stem = fmt::format("{}-{}-{}", mutants.format().name(), asked.seed, found.number);
    write_file(asked.keep / (stem + "-" + fs::path(input.name).filename().string()), input.bytes);
    std::ofstream(asked.keep / (stem + ".txt"))
        << fmt::format("again: ranklab_fuzz {} --seed {} --first {} --count 1\nedits: {:b}\n{}: {}\n{}\n",
                       mutants.format().name(), asked.seed, found.number, found.edits, found.failure.kind,
                       found.failure.command, found.failure.detail);
}

void show(const Mutants& mutants, Tally& tally, const Asked& asked, const fs::path& scratch) {
    std::map<std::string, std::size_t> seen;
    for (auto& found : tally.found) {
        if (seen[alike(found.failure)]++ >= kKeptOfAKind) continue;
        if (seen[alike(found.failure)] == 1) {
            minimise(mutants, found, asked.limits, scratch / "again");
            fmt::print("{} --seed {} --first {} --count 1: {}: {}: {}\n", mutants.format().name(), asked.seed,
                       found.number, found.failure.kind, found.failure.command,
                       ranklab::base::printable(found.failure.detail, 700));
        }
        keep(mutants, found, asked, scratch);
    }
    for (const auto& [text, times] : seen)
        if (times > 1) fmt::print("{} of {}\n", times, ranklab::base::printable(text, 100));
}

std::size_t fuzz(const Format& format, const Asked& asked) {
    const ranklab::tests::TempFolder folder;
    const auto start = std::chrono::steady_clock::now();
    const Mutants mutants(format, asked.seed, folder.path());
    Tally tally =
        run_all(mutants, asked.first, asked.first + asked.count, asked.jobs, asked.limits, folder.path());
    show(mutants, tally, asked, folder.path());
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    std::string codes;
    for (const auto& [code, times] : tally.codes)
        codes += fmt::format("{}{} with {}", codes.empty() ? "" : ", ", times, code);
    if (!tally.told.empty())
        fmt::print("{}: HDF5 crashed on {} of them, and a sentence said so: {}\n", format.name(),
                   tally.told.size(), fmt::join(tally.told, ", "));
    fmt::print("{}: {} inputs of seed {} in {:.1f} s, {} failures; programs ended {}\n", format.name(),
               tally.run, asked.seed, seconds.count(), tally.found.size(), codes);
    std::fflush(stdout);
    return tally.found.size();
}

int fuzz_all(const Asked& asked) {
    std::size_t failures = 0;
    std::size_t known = 0;
    for (const auto& format : formats()) {
        const bool wanted =
            std::find(asked.formats.begin(), asked.formats.end(), format->name()) != asked.formats.end();
        const bool all = asked.formats.front() == "all" && format->name() != "planted";
        if (!wanted && !all) continue;
        ++known;
        failures += fuzz(*format, asked);
    }
    if (known == 0) throw std::runtime_error("there is no format of that name");
    return failures == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return fuzz_all(asked_of({argv + 1, argv + argc}));
    } catch (const std::exception& error) {
        fmt::print(stderr, "{}\nformats:", error.what());
        for (const auto& format : formats()) fmt::print(stderr, " {}", format->name());
        fmt::print(stderr, "\n");
        return 2;
    }
}
