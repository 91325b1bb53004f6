#include "base/motion.hpp"

#include <unistd.h>

#include <algorithm>
#include <mutex>

namespace ranklab::base {
namespace {

struct Registry {
    std::mutex mutex;
    std::vector<const detail::ThreadNote*> notes;
};

// Never destroyed: threads may outlive the statics.
Registry& registry() {
    static auto* const one = new Registry;
    return *one;
}

int rank_of(Motion motion) {
    return motion == Motion::seen ? 2 : motion == Motion::unknown ? 1 : 0;
}

}  // namespace

Motion livelier(Motion one, Motion other) {
    return rank_of(one) >= rank_of(other) ? one : other;
}

namespace detail {

ThreadNote::ThreadNote() : id(::gettid()) {
    const std::lock_guard lock(registry().mutex);
    registry().notes.push_back(this);
}

ThreadNote::~ThreadNote() {
    const std::lock_guard lock(registry().mutex);
    std::erase(registry().notes, this);
}

ThreadNote& own_note() {
    thread_local ThreadNote note;
    return note;
}

}  // namespace detail

void observe_only() {
    detail::own_note().observes.store(true, std::memory_order_relaxed);
}

IdleThreads idle_threads() {
    IdleThreads idle;
    const std::lock_guard lock(registry().mutex);
    for (const auto* note : registry().notes) {
        if (note->observes.load(std::memory_order_relaxed)) idle.observing.push_back(note->id);
        if (note->waits.load(std::memory_order_relaxed) > 0) idle.waiting.push_back(note->id);
    }
    return idle;
}

}  // namespace ranklab::base
