#include "app/take_turns.hpp"

#include <chrono>
#include <ctime>
#include <exception>
#include <random>
#include <utility>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/pinned.hpp"
#include "base/stop_signals.hpp"
#include "comm/exchange.hpp"

namespace ranklab::app {
namespace {

using experiments::Variant;
using experiments::Work;

struct Entry {
    Work* work = nullptr;
    bool done = false;
    bool has_run = false;
    FinishedRun finished;
    std::vector<std::int64_t> round, place, of;
};

// From 0.
struct Turn {
    int round;
    std::size_t place, of;
};

class Turns : base::Pinned {
  public:
    Turns(const std::vector<Variant>& variants, std::uint64_t seed) : variants_(variants), random_(seed) {
        for (std::size_t i = 0; i < variants.size(); ++i) entries_.emplace_back().finished.variant = i;
    }
    // A folder that one made may hold another's.
    ~Turns() {
        while (!begun_.empty()) begun_.pop_back();
    }

    // Fisher and Yates, by numbers that are the same with every standard library.
    std::vector<std::size_t> order_of(int round) {
        std::vector<std::size_t> order;
        for (std::size_t i = 0; i < entries_.size(); ++i)
            if (!entries_[i].done && variants_[i].round <= round) order.push_back(i);
        for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random_() % i]);
        return order;
    }

    void repeat(std::size_t variant, const Turn& turn,
                const std::function<std::unique_ptr<Work>(std::size_t)>& begin) {
        Entry& entry = entries_[variant];
        const auto start = std::chrono::steady_clock::now();
        try {
            if (entry.work == nullptr) {
                entry.finished.started = std::time(nullptr);
                entry.work = begun_.emplace_back(begin(variant)).get();
            }
            entry.done = !entry.work->repeat();
        } catch (const comm::AloneError&) {
            throw;
        } catch (const base::Error& error) {
            if (!base::is_stop(error)) throw;
            // The others, who have a part of their run by now, end with it in their own turns.
            if (!stop_) stop_ = std::current_exception();
            entry.done = true;
            return;
        }
        if (entry.work->was_whole()) note(variant, turn);
        if (entry.done) {
            entry.finished.run = entry.work->finish();
            entry.has_run = true;
        } else {
            entry.work->rest();
        }
        entry.finished.used_s += base::seconds_since(start);
    }

    void tell_of(std::size_t variant, const std::function<void(std::size_t, const results::Run&)>& finished) {
        if (entries_[variant].has_run && variant != taken_) finished(variant, entries_[variant].finished.run);
    }

    void hand_over(const std::function<void(FinishedRun&&)>& take) {
        for (; taken_ < entries_.size() && entries_[taken_].done; ++taken_) {
            Entry& entry = entries_[taken_];
            if (!entry.has_run) continue;
            if (entries_.size() > 1)  // alone it is always its turn
                entry.finished.run.tables.push_back(
                    {"order", {{"round", entry.round}, {"place", entry.place}, {"of", entry.of}}});
            take(std::move(entry.finished));
        }
    }
    bool all_taken() const { return taken_ == entries_.size(); }
    void rethrow_stop() const {
        if (stop_) std::rethrow_exception(stop_);
    }

  private:
    void note(std::size_t variant, const Turn& turn) {
        Entry& entry = entries_[variant];
        entry.round.push_back(turn.round + 1);
        entry.place.push_back(static_cast<std::int64_t>(turn.place) + 1);
        entry.of.push_back(static_cast<std::int64_t>(turn.of));
    }

    const std::vector<Variant>& variants_;
    std::mt19937_64 random_;
    std::vector<Entry> entries_;
    std::vector<std::unique_ptr<Work>> begun_;
    std::size_t taken_ = 0;
    std::exception_ptr stop_;  // of the first that had nothing to end with
};

}  // namespace

void take_turns(const std::vector<Variant>& variants, std::uint64_t seed, const TurnCalls& calls) {
    Turns turns(variants, seed);
    for (int round = 0; !turns.all_taken(); ++round) {
        const auto order = turns.order_of(round);
        for (std::size_t place = 0; place < order.size(); ++place) {
            turns.repeat(order[place], {round, place, order.size()}, calls.begin);
            turns.tell_of(order[place], calls.finished);
            turns.hand_over(calls.take);
        }
    }
    turns.rethrow_stop();
}

}  // namespace ranklab::app
