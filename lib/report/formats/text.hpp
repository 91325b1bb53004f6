// Runs for a person's eye: one screen a run, one line a run in a list.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/model/chosen_runs.hpp"
#include "results/result_file.hpp"
#include "results/run.hpp"

namespace ranklab::report::formats {

/// What ran, when and where; the table of phases; the rates with the lines
///   Img/sec per rank: m +- h
///   Total img/sec on N rank(s): M +- H
/// of throughput_samples_per_s (M: median; H: the longer side of its 95 % interval; m, h: divided by
/// N); accuracy, memory, tables, warnings. Units stand in the first column; numbers are not scaled.
/// An invalid run says INVALID with the reasons and shows no rates.
std::string run_text(const results::Run& run, const model::HowTo& how_to = {});

/// That there is nothing to show: of the file, or of what was `chosen` of it.
std::string no_runs_text(const std::string& file, const std::string& chosen, const model::HowTo& how_to = {});

/// One line a run in the order given, of more than `shown` the last ones, how many there are of each command
/// and label, and what to type to see one. `chosen` says which runs these are.
std::string runs_text(const std::vector<results::RunHeader>& runs, const std::string& file,
                      std::size_t shown = static_cast<std::size_t>(-1), const std::string& chosen = "",
                      const model::HowTo& how_to = {});

}  // namespace ranklab::report::formats
