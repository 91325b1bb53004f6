#include "app/delivery.hpp"

#include <exception>

#include "app/printing.hpp"
#include "base/log.hpp"
#include "base/stop_signals.hpp"
#include "results/result_file.hpp"

namespace ranklab::app {

void Delivery::deliver(const results::Run& run, const Shown& shown) const {
    const base::StopSignals stop;  // a signal ends the waiting for a lock, never the writing
    std::exception_ptr failure;
    const auto attempt = [&](const auto& step) {
        try {
            step();
        } catch (...) {
            failure = std::current_exception();
        }
    };
    attempt([&] {
        print_whole(shown.answer);
        shown.answered();
    });
    attempt([&] {
        if (output_ != "none") results::store_or_set_apart(output_, std::span(&run, 1), lock_timeout_s_);
        if (!shown.note.empty()) base::log::info(shown.note);
    });
    if (!shown.data.empty()) print_whole(shown.data);
    if (failure) std::rethrow_exception(failure);
    print_whole(shown.epilogue);
}

}  // namespace ranklab::app
