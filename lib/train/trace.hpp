// A trace of this process by LibTorch's profiler (Kineto): operators, GPU kernels, and ranklab's
// annotations, of all threads, in the format of Chrome's trace viewer.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/handle.hpp"

namespace ranklab::train {

struct OperatorTime {
    std::string name;
    std::int64_t calls = 0;
    double self_s = 0;   ///< without the operators that it calls
    double total_s = 0;  ///< with them
};

class Trace : base::Immovable {
  public:
    /// Begins. One at a time. `gpu`: kernels of the GPU too.
    explicit Trace(bool gpu);
    /// Ends without a file where save() was not called.
    ~Trace();

    /// Ends, and writes the file. The operators by their self time, longest first. EnvironmentError
    /// where the file cannot be written.
    std::vector<OperatorTime> save(const std::string& path, int rank, int world_size);

  private:
    bool running_ = true;
};

/// While it lives, LibTorch's operators and ranklab's annotations are NVTX ranges, and the CUDA
/// profiler is on: for nsys and ncu. EnvironmentError where LibTorch's CUDA part is missing.
class NvtxRanges : base::Immovable {
  public:
    NvtxRanges();
    ~NvtxRanges();
};

}  // namespace ranklab::train
