// Runs mutants in child processes, so that one that kills its process is named and the others go on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "fuzz/mutants.hpp"

namespace ranklab::fuzz {

struct Limits {
    double cpu_s = 10;  ///< CPU time of one mutant, and time in which it waits and does nothing
    std::size_t bytes = std::size_t{2} << 30U;  ///< resident
    std::size_t batch = 200;                    ///< mutants that a child makes one after the other
};

struct Found {
    std::size_t number = 0;
    std::uint32_t edits = ~0U;  ///< those it takes
    Failure failure;
};

struct Tally {
    std::size_t run = 0;
    std::map<int, std::size_t> codes;  ///< of all programs' ends
    std::vector<Found> found;
    std::vector<std::size_t> told;  ///< mutants that HDF5 crashed on, and which ended with the sentence
};

/// Mutants [first, end), by `jobs` children at a time. `folder` is theirs.
Tally run_all(const Mutants& mutants, std::size_t first, std::size_t end, std::size_t jobs,
              const Limits& limits, const std::filesystem::path& folder);

/// The fewest edits that fail in the same way, tried one by one.
void minimise(const Mutants& mutants, Found& found, const Limits& limits,
              const std::filesystem::path& folder);

}  // namespace ranklab::fuzz
