// --tensorboard DIR: the curves of a running training, on rank 0.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "experiments/training/record.hpp"
#include "options/options.hpp"
#include "results/event_file.hpp"

namespace ranklab::experiments {

/// Steps of an epoch whose numbers are logged, from its first on.
inline constexpr std::int64_t kLogEvery = 10;

class Curves {
  public:
    /// Collective. `resumes`: the folder has curves already, which go on at step `first`. Throws
    /// OptionError or EnvironmentError on all ranks if the folder cannot be written.
    Curves(const std::string& folder, bool resumes, std::int64_t first,
           const std::vector<options::Effective>& settings, comm::Communicator& control);

    /// Collective: means over ranks of a step that was made. `step` is counted from 1.
    void log(std::int64_t step, const StepNotes& notes, const measure::StepTimes& times,
             const std::vector<base::Phase>& phases);
    /// After the evaluation that follows `step`.
    void log_validation(std::int64_t step, const EpochRow& row);
    /// False once a curve could not be written.
    bool whole() const { return whole_; }

  private:
    void write(std::int64_t step, std::vector<results::Scalar> scalars);

    comm::Communicator& control_;
    std::unique_ptr<results::EventFile> file_;                   // on rank 0
    std::vector<std::pair<std::string, std::string>> settings_;  // until they are written
    std::int64_t first_, last_step_;
    base::Clock::time_point last_;
    bool whole_ = true;
};

}  // namespace ranklab::experiments
