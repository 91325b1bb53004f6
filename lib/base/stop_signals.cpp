#include "base/stop_signals.hpp"

#include <csignal>

namespace ranklab::base {
namespace {

volatile std::sig_atomic_t signal_received = 0;  // a handler can reach nothing else
bool told = false;                               // somebody knows of it
int holders = 0;
struct sigaction before_int {};  // what the signals do without an object
struct sigaction before_term {};

void note(int signal) {
    signal_received = signal;
    sigaction(signal, signal == SIGINT ? &before_int : &before_term, nullptr);
}

// Asked first: a signal may come before the call that sets has returned.
void hold(int signal, struct sigaction& before) {
    sigaction(signal, nullptr, &before);
    struct sigaction action {};
    action.sa_handler = note;
    action.sa_flags = static_cast<int>(SA_RESTART);
    sigaction(signal, &action, nullptr);
}

}  // namespace

StopSignals::StopSignals() {
    if (holders++ > 0) return;
    if (told) signal_received = 0;
    told = false;
    hold(SIGINT, before_int);
    hold(SIGTERM, before_term);
}

StopSignals::~StopSignals() {
    if (--holders > 0) return;
    sigaction(SIGINT, &before_int, nullptr);
    sigaction(SIGTERM, &before_term, nullptr);
}

int StopSignals::received() {
    told = signal_received != 0;
    return signal_received;
}

std::string StopSignals::name_of(int signal) {
    return signal == SIGINT ? "Ctrl-C (SIGINT)" : "SIGTERM";
}

}  // namespace ranklab::base
