// Where the files of a run lay: facts that every number of writing and reading needs beside it.
#pragma once

#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "experiments/storage/options.hpp"
#include "results/run.hpp"

namespace ranklab::experiments {

/// Facts `storage.*`: the folder and the file systems that the ranks find there. Collective.
void add_place(results::Run& run, const StorageOptions& options, comm::Communicator& control);

/// The last columns of the table `ladder`.
struct PlaceCells {
    std::string cache, fsync, file_system, directory;
};
PlaceCells place_cells(const results::Run& run);

/// Facts of a comparison of these runs: where all their files lay, and which strategies are none of theirs.
std::vector<results::Fact> facts_of_ladder(const std::vector<results::Run>& runs);

}  // namespace ranklab::experiments
