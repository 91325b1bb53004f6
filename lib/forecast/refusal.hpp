// The reasons not to forecast.
#pragma once

namespace ranklab::forecast {

enum class Refusal {
    none,
    // of forecasts by curve
    too_few_points,
    repeats_contradict,  ///< repeats at one rank count scatter too much
    warm_up_inside,      ///< the first run at each rank count is slower than the rest
    misfit,              ///< no curve fits the points
    jump,                ///< the time jumps between two points
    held_out_missed,     ///< the largest point lies outside the forecast from the others
    one_node,            ///< the forecast spans several nodes, fewer than two points do
    beyond_reach,        ///< more than kReach times the largest point
    // of forecasts by mechanism
    no_layers,           ///< no run of one rank has the table `layers`
    batch_not_measured,  ///< no run of one rank has this batch
    few_samples,         ///< fewer measured steps than ranks, so that the slowest rank is unknown
    level_not_crossed,   ///< no allreduce of this size was measured among ranks placed like these
    too_far              ///< more than 64 times the ranks of the largest run
};

}  // namespace ranklab::forecast
