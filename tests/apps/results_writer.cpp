// Writes many copies of stored runs, for tests and benchmarks of the results file.
//   results_writer append FILE PATTERN PREFIX COUNT
//       appends PATTERN's runs in turn with the ids PREFIX-0, PREFIX-1, ... and prints each stored
//       id; COUNT 0 never ends
//   results_writer multiply PATTERN OUT COUNT
//       writes a file of COUNT runs at once
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "results/access.hpp"
#include "results/result_file.hpp"

namespace {

using ranklab::results::ResultFile;
using ranklab::results::Run;

std::vector<Run> patterns_of(const std::string& path) {
    auto runs = ResultFile(path).read_all();
    if (runs.empty()) throw std::runtime_error(path + " has no run to take as a pattern");
    return runs;
}

int append(const std::string& file, const std::string& pattern, const std::string& prefix,
           long count) {
    auto runs = patterns_of(pattern);
    for (long i = 0; count == 0 || i < count; ++i) {
        Run& run = runs[static_cast<std::size_t>(i) % runs.size()];
        run.id = prefix + "-" + std::to_string(i);
        ResultFile(file).append(run);
        const std::string line = run.id + "\n";
        if (::write(STDOUT_FILENO, line.data(), line.size()) < 0) return 1;
    }
    return 0;
}

// The runs start one second apart.
int multiply(const std::string& pattern, const std::string& out, long count) {
    constexpr std::int64_t kBegin = 1790000000;
    auto runs = patterns_of(pattern);
    auto file = ranklab::results::create_empty(out);
    const auto group = file.root().open_group("runs");
    for (long i = 0; i < count; ++i) {
        Run& run = runs[static_cast<std::size_t>(i) % runs.size()];
        run.id = ranklab::base::utc_compact(kBegin + i) + "-" + std::to_string(100000 + i % 900000);
        run.started_utc = ranklab::base::utc_iso(kBegin + i);
        ranklab::results::store(group, run);
    }
    file.close();
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const std::vector<std::string> words(argv + 1, argv + argc);
        if (words.size() == 5 && words[0] == "append")
            return append(words[1], words[2], words[3], std::stol(words[4]));
        if (words.size() == 4 && words[0] == "multiply")
            return multiply(words[1], words[2], std::stol(words[3]));
        std::fputs("results_writer append FILE PATTERN PREFIX COUNT | multiply PATTERN OUT COUNT\n",
                   stderr);
        return 2;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
