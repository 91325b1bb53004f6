// The measured parts of one training step, from stored runs: the work of a rank, its gradients,
// the network. Seconds and bytes.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "forecast/network.hpp"
#include "forecast/step.hpp"
#include "results/run.hpp"

namespace ranklab::report::predict {

/// The work of a rank alone on its host, of one micro-batch. half_width is relative: of the
/// interval of its step, or how far repetitions lie from the newest run.
struct AloneWork {
    forecast::RankWork work = {};
    double half_width = 0;
};

/// The computing of a run's ranks in a step, beside each other.
struct SharedWork {
    const results::Run* run = nullptr;
    std::size_t per_host = 0;
    double slowest_s = 0, half_width = 0;  ///< the slowest rank's; median over steps
    std::vector<double> computing_s = {};  ///< a number a rank and step
};

/// The runs of one work: that of the newest run of one rank with the table `layers`.
struct Evidence {
    const results::Run* profile = nullptr;  ///< nullptr: there is none, and nothing else either
    std::vector<forecast::Gradient> gradients = {};  ///< the profile's, in backward's order
    std::map<double, AloneWork> alone = {};          ///< by micro-batch
    std::vector<SharedWork> shared = {};             ///< newest first; one of one rank at least
    std::size_t most_ranks = 0;                      ///< in any of them
    /// Allreduces of the gradients' type. MPI takes the algorithm that suits a blocking one;
    /// libnbc, which starts those in the background, has trees.
    forecast::MeasuredNetwork blocking = {{forecast::Algorithm::ring,
                                           forecast::Algorithm::recursive_doubling},
                                          {}},
                              background = {{forecast::Algorithm::tree}, {}};
    /// The share of the computing that one in the background takes on one host, and between hosts;
    /// NaN where not measured.
    std::array<double, 2> compute_share = {stats::kNone, stats::kNone};
};

/// Whether the settings are equal on which the work of a rank depends, beside the batch.
bool is_same_work(const results::Run& a, const results::Run& b);
/// `precision`: "" for that of the newest profile. The runs must outlive the result.
Evidence evidence_in(std::span<const results::Run> runs, const std::string& precision);

/// The number that the setting has; otherwise that one.
double number_of(const results::Run& run, const char* setting, double otherwise);

}  // namespace ranklab::report::predict
