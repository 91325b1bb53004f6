// `ranklab train`: trains a model in a mode and times every phase.
#pragma once

#include "experiments/shared/experiment.hpp"
#include "experiments/training/memory_format.hpp"

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
    std::unique_ptr<Plan> settle(options::Options& options, int world_size) override;
    std::vector<std::string> several() const override {
        return {"ranks", "threads", "workers", "batch-size"};
    }
    std::vector<Variant> variants(const options::Options& options) const override;
    std::string line_of(const results::Run& run) const override;
    std::vector<results::Table> compare(const std::vector<results::Run>& runs) const override;

  private:
    FormatTrials trials_;  ///< runs of one command take one format
    int stopped_by_ = 0;   ///< a signal: runs that come after in the same command are not made
};

}  // namespace ranklab::experiments
