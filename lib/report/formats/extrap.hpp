// Runs for Extra-P, which models how times grow: JSON lines, one a value.
#pragma once

#include <string>
#include <vector>

#include "report/model/chosen_runs.hpp"

namespace ranklab::report::formats {

/// {"params":{"p":2},"callpath":"train/mnist-cnn->forward","metric":"time","value":0.01}: the median of each
/// valid run; runs of equal parameters are Extra-P's repetitions. The callpath is the workload, below it the
/// phases; times are in seconds, other measurements are metrics under their own names. `keys`: the settings
/// that are parameters, empty: ranks; `ranks` is written as p. OptionError where one is no number in some
/// run.
void write_extrap(const model::ChosenRuns& runs, const std::vector<std::string>& keys,
                  const model::Sink& sink);

}  // namespace ranklab::report::formats
