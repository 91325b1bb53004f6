// Private to this room: the measured parts of a run's mean step.
#pragma once

#include <vector>

#include "report/diagnosis/diagnosis.hpp"

namespace ranklab::report::diagnosis {

/// Seconds of a mean step; of the loader all threads of a rank together.
struct Parts {
    forecast::Efficiencies found = {};
    double update_s = 0, reading_s = 0, decoding_s = 0;  ///< decoding and augmenting take a core

    double share_of(double seconds) const { return seconds / found.step_s(); }
    /// Neither the sum of the gradients nor the update depend on the batch.
    double fixed_s() const { return update_s + found.lost_s(forecast::Loss::transfer); }
};
struct Measured {
    Parts whole = {};
    std::vector<Parts> blocks = {};  ///< of successive steps; none where there are too few
};

/// The first rank and its host; the others are taken to be alike.
struct Place {
    double threads = 1;                   ///< that compute
    double own_cores = 0, all_cores = 0;  ///< of the rank, of all ranks of its host; 0: not known
    double ranks = 1, nodes = 1, host_cpus = 0;
};

double setting_of(const results::Run& run, const char* name);
/// None where there is no forecast for that run.
std::vector<Advice> bucket_cap_for(const results::ResultFile& file, const results::Run& run);
/// Those of `more`, and what the cause suggests.
std::vector<Advice> advice_for(const results::Run& run, Cause cause, const Measured& measured,
                               const Place& place, std::vector<Advice> more);

/// 95 % of a mean of independent values: half of its interval by Student's t; NaN below 4.
double half_width_of_mean(const std::vector<double>& values);
/// A function of the parts with its interval over the blocks (batch means).
template <class Function>
Cell estimate(const Measured& measured, const Function& of) {
    std::vector<double> values;
    for (const auto& block : measured.blocks) values.push_back(of(block));
    const double value = of(measured.whole), half = half_width_of_mean(values);
    return Cell(value, {value - half, value + half});
}

}  // namespace ranklab::report::diagnosis
