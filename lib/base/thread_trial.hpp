// Whether this process may start that many threads, before libraries do, which end the process where they may
// not (libgomp), or say so in their own words.
#pragma once

#include <cstddef>
#include <memory>

namespace ranklab::base {

class ThreadTrial {
  public:
    /// Starts `count` threads that do nothing, at most as many as the system lets it.
    explicit ThreadTrial(std::size_t count);
    /// Ends them. Until then they count against limits, which other processes may share.
    ~ThreadTrial();

    std::size_t started() const;

  private:
    class State;
    std::unique_ptr<State> state_;
};

}  // namespace ranklab::base
