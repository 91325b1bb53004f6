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
    LaunchNeeds needs(const options::Options& given) const override;
    std::unique_ptr<Plan> settle(const options::Options& given,
                                 const vocabulary::CommonSettings& common,
                                 comm::Communicator& control) const override;
};

}  // namespace ranklab::experiments
