// Collects the measured parts of a training step from stored runs: a rank's work, its gradients,
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

/// One micro-batch of a rank that is alone on its host.
struct AloneWork {
    forecast::RankWork work = {};
    /// Relative to the step time: the half-width of its interval or, if larger, the largest
    /// deviation of an older run.
    double half_width = 0;
};

/// The computing of all ranks of one run; several ranks share a host.
struct SharedWork {
    const results::Run* run = nullptr;
    std::size_t per_host = 0;              ///< most ranks on one host
    double slowest_s = 0;                  ///< slowest rank's computing, median over steps
    double half_width = 0;                 ///< relative, of slowest_s
    std::vector<double> computing_s = {};  ///< one value per step and rank
};

/// The runs with the same work as the newest one-rank run with the table `layers`, the profile.
struct Evidence {
    const results::Run* profile = nullptr;           ///< nullptr: none, and the rest is empty
    std::vector<forecast::Gradient> gradients = {};  ///< the profile's, in the order of backward
    std::map<double, AloneWork> alone = {};          ///< by micro-batch
    std::vector<SharedWork> shared = {};             ///< newest first
    std::size_t most_ranks = 0;                      ///< of any run
    /// Allreduces of the gradients' type. MPI chooses the algorithm of a blocking allreduce;
    /// libnbc, which works in the background, uses trees.
    forecast::MeasuredNetwork blocking = {{forecast::Algorithm::ring,
                                           forecast::Algorithm::recursive_doubling},
                                          {}},
                              background = {{forecast::Algorithm::tree}, {}};
    /// Fraction of the computing speed that a background allreduce takes: on one host, between
    /// hosts. NaN: not measured.
    std::array<double, 2> compute_share = {stats::kNone, stats::kNone};
};

/// Whether a rank computes the same on one sample in both runs.
bool is_same_work(const results::Run& a, const results::Run& b);
/// Takes the newest profile of `precision`, or of any if empty. The result points into `runs`.
Evidence evidence_in(std::span<const results::Run> runs, const std::string& precision);

/// The setting as a number; `otherwise` if it is none.
double number_of(const results::Run& run, std::string_view name, double otherwise);

}  // namespace ranklab::report::predict
