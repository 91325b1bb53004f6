// What a run's header says before the work begins.
#pragma once

#include <vector>

#include "app/run_under_way.hpp"

namespace ranklab::app {

/// All settings, as a dry run and --verbose show them: of several runs the first whole, of the others what
/// they have in place of it. Once for each, in order, with the same `shown`.
void print_whole_header(const Job& job, const Launch& launch, std::vector<results::Setting>& shown);

/// What runs where, and the settings that are not the defaults, beside those without which nobody knows what
/// runs. `asked`: the options as given; `settled`: as they are, of several runs what all have.
void print_short_header(const Job& job, const options::Options& asked, const options::Options& settled,
                        const Launch& launch);

}  // namespace ranklab::app
