#include "base/last_words.hpp"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <list>
#include <map>
#include <mutex>
#include <utility>

#include "base/stop_signals.hpp"

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

// nullptr where nothing is to be said. What was is kept: a handler may still read it.
const std::string* text_of(All& known) {
    std::string text;
    for (const auto& [object, one] : known.sentences) text += one + "\n";
    return text.empty() ? nullptr : &known.texts.emplace_back(std::move(text));
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
    const std::string* before = words.load();
    if (before == nullptr) known.sentences.clear();  // said, and not to be said again
    const auto mine = known.sentences.find(this);
    if (sentence == (mine == known.sentences.end() ? "" : mine->second)) return;
    const auto change = [&] {
        if (sentence.empty())
            known.sentences.erase(this);
        else
            known.sentences[this] = sentence;
    };
    change();
    if (words.compare_exchange_strong(before, text_of(known))) return;
    known.sentences.clear();  // all was said meanwhile
    change();
    words.store(text_of(known));
}

void LastWords::say() noexcept {
    const std::string* const sentence = words.exchange(nullptr);
    if (sentence == nullptr) return;
    const int before = errno;
    static_cast<void>(::write(STDERR_FILENO, sentence->data(), sentence->size()) < 0);
    errno = before;
}

void LastWords::listen_to_signals() {
    for (const int signal : kStopSignals) {
        struct sigaction now {};
        if (sigaction(signal, nullptr, &now) != 0 || now.sa_handler != SIG_DFL) continue;  // nohup
        struct sigaction action {};
        action.sa_handler = say_and_end;
        action.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER);
        sigaction(signal, &action, nullptr);
    }
}

}  // namespace ranklab::base
