// Made-up runs, with the names that reports look for.
#pragma once

#include "fuzz/random.hpp"
#include "results/run.hpp"

namespace ranklab::fuzz {

/// A run of train or io as it could be: `id` new to its file.
results::Run sound_run(Random& random, const std::string& id);
/// Puts hostile bytes into each text that comes from users or their machines: label, command line, settings,
/// facts, warnings, hosts, cells of tables.
void poison(results::Run& run, Random& random);
std::string run_id(std::size_t number);

}  // namespace ranklab::fuzz
