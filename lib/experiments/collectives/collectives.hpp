// `ranklab comm`: how fast the ranks talk, operation by operation.
#pragma once

#include "experiments/shared/experiment.hpp"

namespace ranklab::experiments {

class Collectives final : public Experiment {
  public:
    std::string command() const override { return "comm"; }
    std::string summary() const override {
        return "Times collectives and point-to-point messages over MPI or NCCL, size by size, and "
               "checks every element of the results.";
    }
    std::string examples() const override;
    void describe(options::Schema& schema) const override;
    std::vector<Listing> listings() const override;
    bool needs_mpi(const options::Options& options) const override;
    bool threads_call_mpi(const options::Options& options) const override;
    int default_threads() const override { return 1; }  // each rank talks by one thread
    std::unique_ptr<Plan> settle(options::Options& options, int world_size) override;
};

}  // namespace ranklab::experiments
