#include "base/last_words.hpp"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <list>
#include <map>
#include <mutex>
#include <utility>

namespace ranklab::base {
namespace {

std::atomic<const std::string*> words{nullptr};  // a handler can reach nothing else

// By object. What a handler may be reading is never freed; there are few of them, and they are short.
struct All {
    std::mutex mutex;
    std::map<const LastWords*, std::string> sentences;
    std::list<std::string> texts;
};

All& all() {
    static auto* const instance = new All;
    return *instance;
}

void say_and_end(int signal) {
    LastWords::say();
    std::signal(signal, SIG_DFL);
    static_cast<void>(std::raise(signal));
}

}  // namespace

void LastWords::set(const std::string& sentence) {
    All& known = all();
    const std::lock_guard lock(known.mutex);
    if (sentence.empty() && known.sentences.erase(this) == 0) return;
    if (!sentence.empty()) known.sentences[this] = sentence;
    std::string text;
    for (const auto& [object, one] : known.sentences) text += one + "\n";
    words.store(text.empty() ? nullptr : &known.texts.emplace_back(std::move(text)));
}

void LastWords::say() noexcept {
    const std::string* const sentence = words.exchange(nullptr);
    if (sentence == nullptr) return;
    const int before = errno;
    static_cast<void>(::write(STDERR_FILENO, sentence->data(), sentence->size()) < 0);
    errno = before;
}

void LastWords::listen_to_signals() {
    for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
        struct sigaction now {};
        if (sigaction(signal, nullptr, &now) != 0 || now.sa_handler != SIG_DFL) continue;  // nohup
        struct sigaction action {};
        action.sa_handler = say_and_end;
        action.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER);
        sigaction(signal, &action, nullptr);
    }
}

}  // namespace ranklab::base
