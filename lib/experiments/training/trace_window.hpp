// --trace FILE.json and --nvtx: the steps of --trace-window, as LibTorch's profiler sees them on
// each rank.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "comm/communicator.hpp"
#include "measure/samples.hpp"
#include "results/run.hpp"
#include "train/trace.hpp"

namespace ranklab::experiments {

struct StepWindow {
    std::int64_t first = 1;  ///< from 1
    std::int64_t count = 0;
};
/// "FIRST:COUNT"; for "" three steps after the warm-up. OptionError where the run does not have
/// them.
StepWindow window_of(const std::string& text, const measure::Schedule& schedule);

class TraceWindow {
  public:
    /// `path`: FILE.json; rank N writes FILE.rankN.json. "": NVTX ranges in place of a file.
    TraceWindow(std::string path, StepWindow window, bool gpu, comm::Communicator& control);

    void before(std::int64_t step);
    /// Collective. After the window's last step all ranks write, and rank 0 their files as one.
    void after(std::int64_t step);
    /// No more steps come: a window that they did not reach the end of is dropped.
    void close();
    /// The table `operators`, of rank 0; a warning where there is no trace.
    void describe(results::Run& run) const;

  private:
    void write();
    void merge(const std::vector<std::int64_t>& bytes);

    std::string path_;
    StepWindow window_;
    bool gpu_;
    comm::Communicator& control_;
    std::unique_ptr<train::Trace> trace_;
    std::unique_ptr<train::NvtxRanges> ranges_;
    std::vector<train::OperatorTime> operators_;
    std::vector<std::string> warnings_;
    std::optional<base::ExitCode> failure_;
    bool written_ = false;
};

}  // namespace ranklab::experiments
