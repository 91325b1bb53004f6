// Which generator a model's random operations draw from.
#pragma once

#include <ATen/core/Generator.h>

#include "base/handle.hpp"

namespace ranklab::nn {

/// While it lives, this room's CPU operations in this thread draw random numbers from `generator`
/// instead of torch's default one. Scopes nest.
///
/// Why: threads that share the default generator draw in the order in which they happen to run.
/// With one each, a run is repeatable, and a thread can draw what a rank of its own would have
/// drawn.
class GeneratorScope : base::Immovable {
  public:
    explicit GeneratorScope(at::Generator generator);
    ~GeneratorScope();

  private:
    at::Generator outer_;
};

/// The generator of this thread's innermost scope; an undefined one where there is none.
const at::Generator& scoped_generator();

}  // namespace ranklab::nn
