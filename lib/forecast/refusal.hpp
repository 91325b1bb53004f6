// Why there is no forecast.
#pragma once

namespace ranklab::forecast {

enum class Refusal {
    none,
    // by curves
    too_few_points,
    repeats_contradict,  ///< processes of a point differ too much
    warm_up_inside,      ///< the first process of each point was slower than the others
    misfit,              ///< no curve goes through the points
    jump,                ///< the time jumps between two of the points
    held_out_missed,     ///< the largest point lies outside of what the others forecast
    one_node,            ///< below two points are on several nodes, the forecast is
    beyond_reach,
    // by mechanism
    no_layers,  ///< no run of one rank has the table `layers`
    batch_not_measured,
    few_samples,        ///< fewer steps than ranks
    level_not_crossed,  ///< no allreduce of that size among such ranks
    too_far
};

}  // namespace ranklab::forecast
