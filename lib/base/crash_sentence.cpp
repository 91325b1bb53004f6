#include "base/crash_sentence.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <memory>

#include "base/cast.hpp"
#include "base/error.hpp"
#include "base/last_words.hpp"

namespace ranklab::base {
namespace {

constexpr std::array kCrashes{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

thread_local const CrashSentence* innermost = nullptr;
std::array<struct sigaction, NSIG> before{};  // by signal: what a crash of no concern here comes to

void on_crash(int signal, siginfo_t* what, void* /*context*/) {
    if (innermost != nullptr && innermost->covers(signal)) innermost->say_and_end();
    sigaction(signal, &before[signal], nullptr);
    const bool by_the_kernel = what->si_code > 0;  // comes again where this returns to, with its address
    if (!by_the_kernel) static_cast<void>(raise(signal));
}

bool listen() {
    for (const int signal : kCrashes) {
        struct sigaction action {};
        action.sa_sigaction = on_crash;
        action.sa_flags = SA_ONSTACK | SA_SIGINFO;
        sigaction(signal, &action, &before[signal]);
    }
    return true;
}

// A thread whose stack is used up (a forged file may nest deeply) needs another one to speak.
class SpareStack {
  public:
    SpareStack() {
        stack_t now{};
        if (sigaltstack(nullptr, &now) != 0 || (now.ss_flags & SS_DISABLE) == 0) return;  // it has one
        memory_ = std::make_unique<char[]>(kBytes);
        stack_t mine{};
        mine.ss_sp = memory_.get();
        mine.ss_size = kBytes;
        sigaltstack(&mine, nullptr);
    }
    ~SpareStack() {
        if (!memory_) return;
        stack_t none{};
        none.ss_flags = SS_DISABLE;
        sigaltstack(&none, nullptr);
    }

    void keep() const {}  // a thread's own object is made when it is first used

  private:
    static constexpr std::size_t kBytes = 65536;
    std::unique_ptr<char[]> memory_;
};

}  // namespace

CrashSentence::CrashSentence(const std::string& sentence, For crashes)
    : sentence_(sentence), crashes_(crashes), outer_(innermost) {
    static const bool listening = listen();
    thread_local const SpareStack spare;
    spare.keep();
    static_cast<void>(listening);
    innermost = this;
}

CrashSentence::~CrashSentence() {
    innermost = outer_;
}

bool CrashSentence::covers(int signal) const noexcept {
    return crashes_ == For::all_crashes || signal == SIGBUS;
}

void CrashSentence::say_and_end() const noexcept {
    char end_of_line = '\n';
    const std::array<iovec, 2> line{iovec{const_cast<char*>(sentence_.data()), sentence_.size()},
                                    iovec{&end_of_line, 1}};
    static_cast<void>(::writev(STDERR_FILENO, line.data(), 2) < 0);
    LastWords::say();
    _exit(number_of(ExitCode::wrong_data));
}

}  // namespace ranklab::base
