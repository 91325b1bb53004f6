// Ends this process where a call does not return that nothing else can leave.
#pragma once

#include <functional>
#include <string>

#include "base/ticker.hpp"

namespace ranklab::base {

class Deadline {
  public:
    /// From construction to destruction. After `seconds` the process says `why()`, "; the job is ended", and
    /// exits with the code of the environment: a launcher ends the other ranks then. Time in which this
    /// process was stopped itself does not count. `why` is called on a thread of its own.
    Deadline(double seconds, std::function<std::string()> why);

  private:
    void pass(double seconds);

    double left_;
    std::function<std::string()> why_;
    Ticker ticker_;  // last: it uses the others
};

}  // namespace ranklab::base
