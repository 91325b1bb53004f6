// The choice between our operations and LibTorch's.
#pragma once

namespace ranklab::nn {

/// Where there are two: our own on the CPU (ADR 0004), or LibTorch's. Same results, other times.
enum class Ops { ranklab, libtorch };

}  // namespace ranklab::nn
