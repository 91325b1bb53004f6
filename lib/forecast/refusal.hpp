// Why there is no forecast: the codes of `ranklab predict`.
#pragma once

namespace ranklab::forecast {

enum class Refusal {
    none,
    // of forecasts by curve
    too_few_points,
    repeats_contradict,  ///< times at one rank count scatter too much
    warm_up_inside,      ///< the first run at each rank count is slower than the rest
    misfit,              ///< no curve fits the points
    held_out_missed,     ///< the largest point lies outside the forecast from the other points
    beyond_reach,        ///< more than kReach times the largest point, or below the smallest
    // of forecasts by mechanism
    no_layers,           ///< no run of one rank has the table `layers`
    batch_not_measured,  ///< no run of one rank has this batch
    few_samples,         ///< fewer measured steps than ranks, so that the slowest rank is unknown
    level_not_crossed,   ///< no allreduce of this size was measured with this placement of ranks
    too_far,             ///< more than 64 times the ranks of the largest run
    misses_its_runs      ///< the simulation of the nearest run is off by a factor of 2
};

}  // namespace ranklab::forecast
