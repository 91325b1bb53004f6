// ranklab's own CPU operations, which compute the same as LibTorch's; the choice between ranklab's
// and LibTorch's; and the random generator from which ranklab's draw.
#pragma once

#include <ATen/core/Generator.h>
#include <torch/types.h>

#include <utility>

#include "base/handle.hpp"

namespace ranklab::nn {

namespace detail {
inline thread_local at::Generator scoped_generator;
}

/// While the object lives, the CPU operations of nn/ops in this thread draw from `generator`
/// instead of torch's default one. Scopes nest.
///
/// Why: threads that share a generator draw in an order that varies from run to run. With one
/// generator per thread, runs are repeatable, and a replica draws the numbers that a rank would.
class GeneratorScope : base::Immovable {
  public:
    explicit GeneratorScope(at::Generator generator)
        : outer_(std::exchange(detail::scoped_generator, std::move(generator))) {}
    ~GeneratorScope() { detail::scoped_generator = std::move(outer_); }

  private:
    at::Generator outer_;
};

/// The generator of this thread's innermost scope; undefined without a scope.
inline const at::Generator& scoped_generator() {
    return detail::scoped_generator;
}

/// Whose implementation to use if ranklab has one for the CPU, too (ADR 0004). Results agree, speed
/// differs.
enum class Ops { ranklab, libtorch };

/// Computes torch::dropout(x, p, train) with LibTorch 2.11's masks, and leaves torch's generator in
/// the same state. Dense CPU tensors of float or double take the fast path. torch::dropout computes
/// other tensors, and all tensors with Ops::libtorch. In a GeneratorScope CPU tensors draw from
/// the scope's generator.
///
/// Why: LibTorch draws one number at a time, which took an eighth of the MNIST CNN's step. Here
/// mt19937 makes blocks of the same numbers.
torch::Tensor fast_dropout(const torch::Tensor& x, double p, bool train, Ops ops = Ops::ranklab);

/// Computes max_pool2d(relu(x), 2) of x [N, C, H, W] in one pass over memory, with bitwise equal
/// values and gradients: the first of equal maxima in a window takes the gradient, NaN propagates,
/// a maximum not above 0 passes no gradient. Dense CPU tensors of float or double with even H and W
/// take the fused path. LibTorch's two operations compute other tensors, and all tensors with
/// Ops::libtorch.
///
/// Why: LibTorch pools NCHW tensors on the CPU by scalar code, and ReLU reads and writes the
/// network's largest tensor once more in forward and in backward. Pooling and ReLU took a
/// fifth of the MNIST CNN's step.
torch::Tensor relu_max_pool_2x2(const torch::Tensor& x, Ops ops = Ops::ranklab);

}  // namespace ranklab::nn
