// The choice between our operations and LibTorch's.
#pragma once

namespace ranklab::nn {

/// Which kernel to use where ranklab has its own for the CPU (ADR 0004). Results agree, speed
/// differs.
enum class Ops { ranklab, libtorch };

}  // namespace ranklab::nn
