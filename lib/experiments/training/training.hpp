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
    std::vector<results::Setting> resolve(options::Options& options, int world_size) const override;
    std::vector<Variant> variants(const options::Options& options) const override;
    std::string line_of(const results::Run& run) const override;
    std::vector<results::Table> compare(const std::vector<results::Run>& runs) const override;
    /// Stopped by SIGTERM or Ctrl-C on any rank: the run of what was done by then, marked; before its first
    /// step, and for runs that come after in the same command, base::Interrupted.
    results::Run run(const Surroundings& surroundings) override;

  private:
    results::Run run_once(const Surroundings& surroundings);

    int stopped_by_ = 0;
};

}  // namespace ranklab::experiments
