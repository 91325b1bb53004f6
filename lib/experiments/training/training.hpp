// `ranklab train`: trains a model in a mode and times every phase.
#pragma once

#include "experiments/shared/experiment.hpp"

namespace ranklab::experiments {

void describe_training(options::Schema& schema);

class Training final : public Experiment {
  public:
    std::string command() const override { return "train"; }
    std::string summary() const override {
        return "Trains a network on one or many ranks and times every phase of every step.";
    }
    std::string examples() const override;
    void describe(options::Schema& schema) const override { describe_training(schema); }
    std::vector<Listing> listings() const override;
    LaunchNeeds needs(const options::Options& given) const override;
    std::unique_ptr<Plan> settle(const options::Options& given,
                                 const vocabulary::CommonSettings& common,
                                 comm::Communicator& control) const override;
};

}  // namespace ranklab::experiments
