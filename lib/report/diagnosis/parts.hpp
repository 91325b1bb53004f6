// Private to this room: the measured parts of a run's mean step.
#pragma once

#include <optional>
#include <vector>

#include "report/diagnosis/diagnosis.hpp"

namespace ranklab::report::diagnosis {

/// Seconds of a mean step; of the loader all threads of a rank together.
struct Parts {
    forecast::Efficiencies found = {};
    double update_s = 0, reading_s = 0, decoding_s = 0;  ///< decoding and augmenting take a core
};
struct Measured {
    Parts whole = {};
    std::vector<Parts> blocks = {};  ///< of successive steps; none where there are too few
};
/// nullopt where the run does not store them.
std::optional<Measured> measured_parts(const results::Run& run);

/// Of the first rank; the others are taken to be alike.
struct Place {
    double threads = 1;    ///< that compute
    double own_cores = 0;  ///< that it is bound to; 0: not known
    double cores = 0;      ///< of its host's ranks, for each of them
    double ranks = 1, nodes = 1, host_cpus = 0;
};
Place place_of(const results::Run& run);
double setting_of(const results::Run& run, const char* name);

std::vector<Advice> advice_for(const results::Run& run, Cause cause, const Measured& measured,
                               const Place& place);

/// Half of the 95 % interval of a mean of independent values; NaN below 4.
double half_width_of_mean(const std::vector<double>& values);
/// A function of the parts with its 95 % interval, by Student's t over the blocks (batch means).
template <class Function>
Cell estimate(const Measured& measured, const Function& of) {
    std::vector<double> values;
    for (const auto& block : measured.blocks) values.push_back(of(block));
    const double value = of(measured.whole), half = half_width_of_mean(values);
    return Cell(value, {value - half, value + half});
}

}  // namespace ranklab::report::diagnosis
