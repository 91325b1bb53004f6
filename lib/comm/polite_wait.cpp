#include "comm/polite_wait.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>

namespace ranklab::comm {

void wait_politely(Communicator& control, const std::function<void()>& beat) {
    constexpr std::chrono::microseconds kFirst{200};
    constexpr std::chrono::microseconds kLongest{2000};
    // Where `beat` throws, both stay for good: MPI may still write there.
    auto here = std::make_unique<std::uint8_t>(std::uint8_t{1});
    Request request = control.start_allreduce(view(std::span(here.get(), 1)), ReduceOp::max);
    auto pause = kFirst;
    try {
        while (!request.test()) {
            beat();
            std::this_thread::sleep_for(pause);
            pause = std::min(pause * 5 / 4, kLongest);
        }
    } catch (...) {
        request.abandon();
        static_cast<void>(here.release());
        throw;
    }
}

}  // namespace ranklab::comm
