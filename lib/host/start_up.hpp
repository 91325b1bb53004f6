// The parts of the time from the start of a process to its first step.
#pragma once

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "host/process.hpp"

namespace ranklab::host {

class StartUp {
  public:
    struct Part {
        std::string name;
        double seconds = 0;
        static auto fields(auto& self) { return std::tie(self.name, self.seconds); }
    };

    /// The process was at `part` since the last one was done, the first one since the kernel started it.
    void done(std::string part) {
        if (finished_) return;
        const double now = seconds_since_process_start();
        parts_.push_back({std::move(part), now - until_});
        until_ = now;
    }
    /// As done(); later parts do not count.
    void finish(std::string part) {
        done(std::move(part));
        finished_ = true;
    }

    const std::vector<Part>& parts() const { return parts_; }
    double seconds() const { return until_; }  ///< sum of the parts

  private:
    std::vector<Part> parts_;
    double until_ = 0;  // since the kernel started the process
    bool finished_ = false;
};

}  // namespace ranklab::host
