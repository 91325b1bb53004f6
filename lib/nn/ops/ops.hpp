// The choice between our operations and LibTorch's.
#pragma once

namespace ranklab::nn {

/// Whose implementation to use if ranklab has one for the CPU, too (ADR 0004). Results agree, speed
/// differs.
enum class Ops { ranklab, libtorch };

}  // namespace ranklab::nn
