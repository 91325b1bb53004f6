#include "host/start_up.hpp"

#include <utility>

#include "host/process.hpp"

namespace ranklab::host {

void StartUp::done(std::string part) {
    if (finished_) return;
    const double now = seconds_since_process_start();
    parts_.push_back({std::move(part), now - until_});
    until_ = now;
}

void StartUp::finish(std::string part) {
    done(std::move(part));
    finished_ = true;
}

}  // namespace ranklab::host
