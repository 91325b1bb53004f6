#include "base/stop_signals.hpp"

#include <fmt/format.h>

#include <atomic>
#include <utility>

namespace ranklab::base {
namespace {

std::atomic<int> signal_received = 0;  // a handler reaches globals only
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler must not lock");
struct Held {
    int signal;
    struct sigaction before;  // restored at the end
};
Held held[std::size(kStopSignals)];

bool is_warning(int signal) {
    return signal == SIGUSR1 || signal == SIGUSR2;
}

// True if a second signal of this kind ends the process. A lost terminal may cause two SIGHUP (from
// the shell and from Linux), and a batch system may warn both the process and its launcher: neither
// means that the user insists.
bool ends_when_repeated(int signal) {
    return signal != SIGHUP && !is_warning(signal);
}

void note(int signal) {
    if (is_warning(signal) && signal_received != 0) return;
    signal_received = signal;
    for (const Held& one : held)
        if (one.signal == signal && ends_when_repeated(signal))
            sigaction(signal, &one.before, nullptr);
}

void have_noted(int signal) {
    struct sigaction action {};
    action.sa_handler = note;
    action.sa_flags = static_cast<int>(SA_RESTART);
    sigaction(signal, &action, nullptr);
}

// Saves the old action first: the handler, which restores it, may run at once.
void hold(Held& one, int signal) {
    one.signal = signal;
    sigaction(signal, nullptr, &one.before);
    if (signal == SIGHUP && one.before.sa_handler == SIG_IGN) return;  // nohup
    have_noted(signal);
}

}  // namespace

std::string signal_name(int signal) {
    constexpr std::pair<int, const char*> kNames[] = {{SIGHUP, "SIGHUP"},   {SIGINT, "SIGINT"},
                                                      {SIGKILL, "SIGKILL"}, {SIGUSR1, "SIGUSR1"},
                                                      {SIGUSR2, "SIGUSR2"}, {SIGTERM, "SIGTERM"}};
    for (const auto& [number, name] : kNames)
        if (number == signal) return name;
    return fmt::format("signal {}", signal);
}

StopSignalsBlocked::StopSignalsBlocked() {
    sigset_t stop;
    sigemptyset(&stop);
    for (const int signal : kStopSignals) sigaddset(&stop, signal);
    pthread_sigmask(SIG_BLOCK, &stop, &before_);
}

StopSignalsBlocked::~StopSignalsBlocked() {
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

StopSignals::StopSignals() {
    for (std::size_t i = 0; i < std::size(held); ++i) hold(held[i], kStopSignals[i]);
}

StopSignals::~StopSignals() {
    for (const Held& one : held) sigaction(one.signal, &one.before, nullptr);
}

int StopSignals::received() {
    return signal_received;
}

void StopSignals::acknowledge() {
    signal_received = 0;
}

std::string StopSignals::name_of(int signal) {
    return signal == SIGINT ? "Ctrl-C (SIGINT)" : signal_name(signal);
}

void StopSignals::note_warnings() {
    for (const int signal : {SIGUSR1, SIGUSR2}) have_noted(signal);
}

}  // namespace ranklab::base
