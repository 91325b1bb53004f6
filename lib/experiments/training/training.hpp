// `ranklab train`: trains a model in a mode and times every phase.
#pragma once

#include "experiments/shared/experiment.hpp"

namespace ranklab::experiments {

class Training final : public Experiment {
  public:
    std::string command() const override { return "train"; }
    std::string summary() const override {
        return "Trains a network on one or many ranks and times every phase of every step.";
    }
    std::string examples() const override;
    void describe(options::Schema& schema) const override;
    std::vector<Listing> listings() const override;
    bool may_use_gpus(const options::Options& options) const override;
    bool wants_ranks(const options::Options& options) const override;
    std::unique_ptr<Plan> settle(options::Options& options, int world_size) override;
};

}  // namespace ranklab::experiments
