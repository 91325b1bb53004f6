// A finished run: printed, and stored in the shared file or apart from it.
#pragma once

#include <functional>
#include <string>

#include "results/run.hpp"

namespace ranklab::app {

/// What goes to stdout of one run.
struct Shown {
    std::string answer = {};                 ///< before the run is stored
    std::string epilogue = {};               ///< behind, where that went well
    std::string data = {};                   ///< behind, also where the run is not stored
    std::string note = {};                   ///< on stderr, once the run is stored, before `data`
    std::function<void()> answered = [] {};  ///< called once `answer` is printed
};

class Delivery {
  public:
    /// `output`: the shared file, or "none".
    Delivery(std::string output, double lock_timeout_s)
        : output_(std::move(output)), lock_timeout_s_(lock_timeout_s) {}

    /// Errors as of results::store_or_set_apart, once all is printed; as of print_whole.
    void deliver(const results::Run& run, const Shown& shown) const;

  private:
    std::string output_;
    double lock_timeout_s_;
};

}  // namespace ranklab::app
