#include "app/delivery.hpp"

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <new>
#include <utility>

#include "app/printing.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "base/shell_path.hpp"
#include "base/stop_signals.hpp"
#include "base/text.hpp"
#include "options/schema.hpp"
#include "results/keeper.hpp"

namespace ranklab::app {
namespace {

// nullptr where it went well.
std::exception_ptr attempt(const std::function<void()>& step) {
    try {
        step();
        return nullptr;
    } catch (...) {
        return std::current_exception();
    }
}

std::string sentence_of(const std::exception_ptr& failure) {
    try {
        std::rethrow_exception(failure);
    } catch (const base::Error& error) {
        return options::told(error);
    } catch (const std::bad_alloc&) {
        return "out of memory";
    } catch (const std::exception& error) {
        return error.what();
    } catch (...) {
        return "an exception of an unknown type was thrown";
    }
}

// A user's wish to stop stays one; all else is that the surroundings did not take the run.
[[noreturn]] void rethrow_with(const std::exception_ptr& failure, const std::string& place) {
    const std::string sentence = fmt::format("{}; {}", sentence_of(failure), place);
    try {
        std::rethrow_exception(failure);
    } catch (const base::Interrupted& stopped) {
        throw base::Interrupted(sentence, stopped.signal());
    } catch (...) {
        throw base::EnvironmentError(sentence);
    }
}

DeliveryWays real_ways(const std::string& output) {
    const auto keeper = std::make_shared<results::Keeper>(output);
    return {[keeper](const results::Run& run) { return keeper->secure(run); },
            [keeper](const results::Run& run, const results::LockWait& wait) { keeper->store(run, wait); },
            print_whole};
}

}  // namespace

Delivery::Delivery(const std::string& output, results::LockWait wait, bool verbose)
    : Delivery(real_ways(output), output, std::move(wait), verbose) {}

Delivery::Delivery(DeliveryWays ways, std::string output, results::LockWait wait, bool verbose)
    : ways_(std::move(ways)), output_(std::move(output)), wait_(std::move(wait)), verbose_(verbose) {}

Delivery::~Delivery() {
    if (!place_.empty()) base::LastWords::say();
}

std::string Delivery::place_sentence() const {
    return fmt::format(
        "{} not lost: it is in {} (ranklab report reads it, `ranklab results merge {} {}` adds it to the "
        "file)",
        whole_ ? "the run was" : "what was measured before is", place_.string(), base::shell_path(output_),
        base::shell_path(place_.string()));
}

void Delivery::secure(const results::Run& run, bool whole) {
    if (output_ == "none") return;
    place_ = ways_.secure(run);
    whole_ = whole;
    const std::string who = base::log::where();
    words_.set((who.empty() ? "" : who + ": ") + place_sentence());
}

void Delivery::keep(const results::Run& so_far) noexcept {
    const auto failure = attempt([&] {
        const auto before = place_;
        secure(so_far, false);
        if (verbose_ && place_ != before)  // said once, before it is needed
            base::log::info(fmt::format("what is measured so far is kept in {} until the run is stored",
                                        place_.string()));
    });
    if (failure)
        static_cast<void>(attempt([&] {
            base::log::warn("what was measured so far could not be secured: " + sentence_of(failure));
        }));
}

void Delivery::store(const results::Run& run) {
    if (output_ == "none") return;
    using Clock = std::chrono::steady_clock;
    auto tell_at = Clock::now() + std::chrono::milliseconds(500);
    auto wait = wait_;
    wait.beat = [&] {
        if (signal_ == 0) signal_ = base::StopSignals::received();
        if (signal_ != 0) throw_stopped();
        if (place_.empty() || Clock::now() < tell_at) return;
        tell_at = Clock::time_point::max();
        // Of a job that the launcher ends no more words may come through.
        base::log::info(fmt::format("the run is in {} meanwhile", place_.string()));
    };
    ways_.store(run, wait);
}

// The place is said at once: a launcher that ends its job does not wait until all ranks have agreed.
void Delivery::throw_stopped() const {
    base::LastWords::say();
    throw base::Interrupted(fmt::format("stopped by {} while waiting for the results file's lock",
                                        base::StopSignals::name_of(signal_)),
                            signal_);
}

// A signal waits until what was begun is done: only between two steps, or while one waits, it is heard.
std::exception_ptr Delivery::undisturbed(const std::function<void()>& step) {
    const base::StopSignals stop;
    auto failure = attempt(step);
    if (signal_ == 0) signal_ = base::StopSignals::received();
    return failure;
}

// The numbers are nowhere but in this process, or alone on the disk: says so, in one sentence.
void Delivery::throw_unstored(const std::exception_ptr& failure, const results::Run& run,
                              std::exception_ptr unsecured) {
    if (unsecured) unsecured = undisturbed([&] { secure(run, true); });  // there may be room by now
    std::string place = place_.empty() ? "" : place_sentence();
    if (unsecured)
        place = fmt::format("nor could it be saved alone: {}{}", sentence_of(unsecured),
                            place.empty() ? "" : "; of what was kept before: " + place);
    forget();
    rethrow_with(failure, place);
}

void Delivery::forget() {
    place_.clear();
    words_.set("");
}

void Delivery::deliver(const results::Run& run, const Shown& shown) {
    const auto unsecured = undisturbed([&] { secure(run, true); });
    // A reader who does not read may stop us here: a signal then ends the process with its last words.
    auto unprinted = attempt([&] {
        ways_.print(shown.answer);
        shown.answered();
    });
    const auto unstored = undisturbed([&] { store(run); });
    if (!unstored) {
        forget();
        if (!shown.note.empty()) base::log::info(shown.note);
    }
    if (!shown.data.empty()) unprinted = attempt([&] { ways_.print(shown.data); });
    if (unstored) throw_unstored(unstored, run, unsecured);
    if (!unprinted) unprinted = attempt([&] { ways_.print(shown.epilogue); });
    const std::string stored = output_ == "none"
                                   ? "it was not to be stored"
                                   : fmt::format("the run is stored as {} in {}", run.id, output_);
    if (unprinted) rethrow_with(unprinted, stored);
    if (signal_ != 0)
        throw base::Interrupted(fmt::format("stopped by {}; {}", base::StopSignals::name_of(signal_), stored),
                                signal_);
}

}  // namespace ranklab::app
