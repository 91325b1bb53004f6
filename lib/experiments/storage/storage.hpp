// `ranklab io`: strategies of the file-writing ladder, verified and timed.
#pragma once

#include "experiments/shared/experiment.hpp"

namespace ranklab::experiments {

class Storage final : public Experiment {
  public:
    std::string command() const override { return "io"; }
    std::string summary() const override {
        return "Writes the same numbers in ten ways, from a text file per record to collective parallel "
               "HDF5, reads "
               "them back, and times every phase.";
    }
    std::string examples() const override;
    void describe(options::Schema& schema) const override;
    std::vector<Listing> listings() const override;
    bool needs_mpi(const options::Options& options) const override;
    int default_threads() const override { return 1; }  // each rank writes by one thread
    std::unique_ptr<Plan> settle(options::Options& options, int world_size) override;
    std::vector<Variant> variants(const options::Options& options) const override;
    std::string line_of(const results::Run& run) const override;
    std::vector<results::Table> compare(const std::vector<results::Run>& runs) const override;
    std::vector<results::Fact> facts_of(const std::vector<results::Run>& runs) const override;

  private:
    int stopped_by_ = 0;  ///< a signal: what is under way in the same command ends, and no more is begun
};

}  // namespace ranklab::experiments
