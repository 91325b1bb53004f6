// `ranklab io`: strategies of the file-writing ladder, verified and timed.
#pragma once

#include "experiments/shared/experiment.hpp"

namespace ranklab::experiments {

class Storage final : public Experiment {
  public:
    std::string command() const override { return "io"; }
    std::string summary() const override {
        return "Writes the same numbers in ten ways, from a text file per record to collective "
               "parallel HDF5, reads them back, and times every phase.";
    }
    std::string examples() const override;
    void describe(options::Schema& schema) const override;
    std::vector<Listing> listings() const override;
    bool needs_mpi(const options::Options& options) const override;
    int default_threads() const override { return 1; }  // each rank writes by one thread
    std::unique_ptr<Plan> settle(options::Options& options, int world_size) override;
};

}  // namespace ranklab::experiments
