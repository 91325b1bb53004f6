#include "base/stop_signals.hpp"

namespace ranklab::base {
namespace {

volatile std::sig_atomic_t signal_received = 0;  // a handler can reach nothing else
bool told = false;                               // somebody knows of it
int holders = 0;

}  // namespace

StopSignals::StopSignals() {
    if (holders++ > 0) return;
    if (told) signal_received = 0;
    told = false;
    struct sigaction action {};
    action.sa_handler = [](int signal) { signal_received = signal; };
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
    sigaction(SIGINT, &action, &before_int_);
    sigaction(SIGTERM, &action, &before_term_);
}

StopSignals::~StopSignals() {
    if (--holders > 0) return;
    sigaction(SIGINT, &before_int_, nullptr);
    sigaction(SIGTERM, &before_term_, nullptr);
}

int StopSignals::received() {
    told = signal_received != 0;
    return signal_received;
}

std::string StopSignals::name_of(int signal) {
    return signal == SIGINT ? "Ctrl-C (SIGINT)" : "SIGTERM";
}

}  // namespace ranklab::base
