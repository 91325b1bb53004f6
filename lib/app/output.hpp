// The runs on stdout: header, answer, and where they are stored; or JSON.
#pragma once

#include <string>
#include <vector>

#include "app/job_start.hpp"
#include "experiments/shared/experiment.hpp"
#include "options/options.hpp"
#include "results/run.hpp"
#include "results/vocabulary/settings.hpp"

namespace ranklab::app {

/// Prints on rank 0 alone. Of several runs the last one compares them.
class Output {
  public:
    Output(const options::Options& options, bool is_root);

    /// The ranks' places and the settings that are not defaults; with --verbose and --dry-run all of them.
    void header(const experiments::Plan& plan, const Launch& launch) const;
    bool has_progress() const { return is_root_ && !common_.quiet; }
    /// Before the runs are stored.
    void answer(const std::vector<results::Run>& runs) const;
    /// Once they are stored: their ids, what to type next; with --json the runs.
    void stored(const std::vector<results::Run>& runs) const;

  private:
    std::string place_of(const results::Run& run) const;

    const options::Options& options_;
    vocabulary::CommonSettings common_;
    bool is_root_;
    bool nccl_tests_;  ///< the run of comm as nccl-tests prints it, too
};

}  // namespace ranklab::app
