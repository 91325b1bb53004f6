// What stored runs say about the parts of a training step: the work of a rank, its gradients, the
// network. In seconds and bytes.
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

/// The work for one micro-batch of a rank that is alone on its host. half_width: half of the step's
/// interval, or the largest deviation of a repetition from the newest run; relative.
struct AloneWork {
    forecast::RankWork work = {};
    double half_width = 0;
};

/// The computing time of ranks that share hosts, from one run.
struct SharedWork {
    const results::Run* run = nullptr;
    std::size_t per_host = 0;
    double slowest_s = 0, half_width = 0;  ///< of the slowest rank; median over steps
    std::vector<double> computing_s = {};  ///< a value per rank and step
};

/// The runs of one work, which the newest profile defines: a run on one rank with the table
/// `layers`.
struct Evidence {
    const results::Run* profile = nullptr;           ///< nullptr: no profile, and no other evidence
    std::vector<forecast::Gradient> gradients = {};  ///< the profile's, in backward's order
    std::map<double, AloneWork> alone = {};          ///< by micro-batch
    std::vector<SharedWork> shared = {};             ///< newest first; at least one is on one rank
    std::size_t most_ranks = 0;                      ///< of any run
    /// Allreduces of the gradients' type. For a blocking allreduce MPI chooses the algorithm by
    /// size; for a background allreduce Open MPI's libnbc uses trees.
    forecast::MeasuredNetwork blocking = {{forecast::Algorithm::ring,
                                           forecast::Algorithm::recursive_doubling},
                                          {}},
                              background = {{forecast::Algorithm::tree}, {}};
    /// The share of computing time that a background allreduce costs: on one host, between hosts.
    /// NaN: not measured.
    std::array<double, 2> compute_share = {stats::kNone, stats::kNone};
};

/// Whether the settings that define the work of a rank are equal; the batch may differ.
bool is_same_work(const results::Run& a, const results::Run& b);
/// `precision`: "" takes that of the newest profile. The runs must outlive the result.
Evidence evidence_in(std::span<const results::Run> runs, const std::string& precision);

/// The number that the setting has; otherwise that one.
double number_of(const results::Run& run, std::string_view name, double otherwise);

}  // namespace ranklab::report::predict
