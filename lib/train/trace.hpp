// A trace of all threads of this process by LibTorch's profiler (Kineto), in the format of Chrome's
// trace viewer: operators, GPU kernels, and ranklab's annotations.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/handle.hpp"

namespace ranklab::train {

struct OperatorTime {
    std::string name;
    std::int64_t calls = 0;
    double self_s = 0;   ///< without the time of operators that it calls
    double total_s = 0;  ///< with the time of operators that it calls
};

class Trace : base::Immovable {
  public:
    /// Starts a trace; only one may run at a time. `gpu`: record GPU kernels, too.
    explicit Trace(bool gpu);
    /// Ends the trace; without save(), writes no file.
    ~Trace();
    /// Ends the trace and writes the file, by way of PATH.tmp. Returns the operators by self time,
    /// longest first. Kineto reports no failure: the file is then missing or cut short.
    std::vector<OperatorTime> save(const std::string& path, int rank, int world_size);

  private:
    bool running_ = true;
};

/// For nsys and ncu: while the object lives, LibTorch's operators and ranklab's annotations are
/// NVTX ranges, and the CUDA profiler is on. Throws EnvironmentError if LibTorch's CUDA part is
/// missing.
class NvtxRanges : base::Immovable {
  public:
    NvtxRanges();
    ~NvtxRanges();
};

}  // namespace ranklab::train
