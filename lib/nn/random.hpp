// The random generator of a model's operations.
#pragma once

#include <ATen/core/Generator.h>

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

}  // namespace ranklab::nn
