#include "base/stop_signals.hpp"

#include <atomic>
#include <csignal>

namespace ranklab::base {
namespace {

std::atomic<int> signal_received = 0;  // a handler can reach nothing else
static_assert(std::atomic<int>::is_always_lock_free, "a handler must not wait");
bool told = false;  // somebody knows of it
int holders = 0;
struct Held {
    int signal;
    struct sigaction before;  // what it does without an object
};
Held held[] = {{SIGINT, {}}, {SIGTERM, {}}, {SIGHUP, {}}};

// Who loses a terminal may get two SIGHUPs, from the shell and from the kernel: the second is no other wish.
void note(int signal) {
    signal_received = signal;
    for (const Held& one : held)
        if (one.signal == signal && signal != SIGHUP) sigaction(signal, &one.before, nullptr);
}

// Asked first: a signal may come before the call that sets has returned.
void hold(Held& one) {
    sigaction(one.signal, nullptr, &one.before);
    if (one.signal == SIGHUP && one.before.sa_handler == SIG_IGN) return;  // nohup
    struct sigaction action {};
    action.sa_handler = note;
    action.sa_flags = static_cast<int>(SA_RESTART);
    sigaction(one.signal, &action, nullptr);
}

}  // namespace

StopSignals::StopSignals() {
    if (holders++ > 0) return;
    if (told) signal_received = 0;
    told = false;
    for (Held& one : held) hold(one);
}

StopSignals::~StopSignals() {
    if (--holders > 0) return;
    for (const Held& one : held) sigaction(one.signal, &one.before, nullptr);
}

int StopSignals::received() {
    told = signal_received != 0;
    return signal_received;
}

bool StopSignals::noted() {
    return signal_received != 0;
}

void StopSignals::follow() {
    signal_received = 0;
    told = false;
}

std::string StopSignals::name_of(int signal) {
    if (signal == SIGINT) return "Ctrl-C (SIGINT)";
    return signal == SIGHUP ? "SIGHUP" : "SIGTERM";
}

}  // namespace ranklab::base
