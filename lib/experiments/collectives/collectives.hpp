// `ranklab comm`: times of communication, operation by operation.
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
    LaunchNeeds needs(const options::Options& given) const override;
    std::unique_ptr<Plan> settle(const options::Options& given,
                                 const vocabulary::CommonSettings& common,
                                 comm::Communicator& control) const override;
};

}  // namespace ranklab::experiments
