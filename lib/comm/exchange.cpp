#include "comm/exchange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <limits>
#include <memory>
#include <thread>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/numbers.hpp"
#include "base/text.hpp"
#include "comm/mpi_environment.hpp"

namespace ranklab::comm {

std::vector<std::string> gather_texts(Communicator& control, const std::string& mine) {
    std::vector<std::int64_t> lengths(control.world_size());
    const std::int64_t length = std::ssize(mine);
    control.allgather(view(std::span(&length, 1)), view(std::span(lengths)));
    const auto width = static_cast<std::size_t>(*std::ranges::max_element(lengths));
    std::string padded = mine, all(width * lengths.size(), '\0');
    padded.resize(width);
    control.allgather(view(std::span(padded)), view(std::span(all)));
    std::vector<std::string> texts;
    for (std::size_t r = 0; r < lengths.size(); ++r)
        texts.push_back(all.substr(r * width, static_cast<std::size_t>(lengths[r])));
    return texts;
}

bool is_same_everywhere(Communicator& control, const std::string& mine) {
    const auto hash = static_cast<std::int64_t>(base::fingerprint(mine));
    return reduced(control, hash, ReduceOp::max) == reduced(control, hash, ReduceOp::min);
}

std::string broadcast_text(Communicator& control, const std::string& text, int root) {
    std::string copy = text;
    copy.resize(from_root(control, std::ssize(text), root));
    control.broadcast(view(std::span(copy.data(), copy.size())), root);
    return copy;
}

namespace {

constexpr std::int64_t kNobody = std::numeric_limits<std::int64_t>::max();

struct Outcome {
    std::exception_ptr failure;
    int code = 0;
    bool is_from_peer = false;  // a PeerError
};

Outcome outcome_of(const std::function<void()>& work) {
    try {
        work();
        return {};
    } catch (const PeerError& error) {
        return {std::current_exception(), base::number_of(error.code()), true};
    } catch (const std::exception& error) {
        return {std::current_exception(), base::number_of(base::describe_failure(error).code)};
    } catch (...) {
        return {std::current_exception(), base::number_of(base::ExitCode::internal)};
    }
}

// Ends the job from this rank: the other ranks hang in a collective that this rank left.
[[noreturn]] void end_job(const std::exception_ptr& failure) {
    try {
        std::rethrow_exception(failure);
    } catch (const std::exception& error) {
        const auto [sentence, code, settings] = base::describe_failure(error);
        base::log::error(sentence, settings);
        MpiEnvironment::abort(base::number_of(code));
    }
}

using base::Clock;
using Seconds = std::chrono::duration<double>;

// Polls until the request completes; false after `timeout`. Between polls it calls `beat` and
// sleeps an eighth of the time waited so far (20 us to 2 ms), which bounds the delay.
bool completes(Request& request, Seconds timeout, const std::function<void()>& beat) {
    constexpr Clock::duration kShortest = std::chrono::microseconds(20),
                              kLongest = std::chrono::milliseconds(2);
    const auto begin = Clock::now();
    while (!request.test()) {
        const auto waited = Clock::now() - begin;
        if (Seconds(waited) > timeout) return false;
        beat();
        std::this_thread::sleep_for(std::clamp(waited / 8, kShortest, kLongest));
    }
    return true;
}

// The rank with the lowest bid reports the error. A rank with an error of its own bids below a rank
// with a PeerError.
std::int64_t bid(const Communicator& control, const Outcome& mine) {
    if (!mine.failure) return kNobody;
    return control.rank() + (mine.is_from_peer ? control.world_size() : 0);
}

void settle(Communicator& control, const Outcome& mine, std::int64_t lowest) {
    if (lowest == kNobody) return;
    const auto first = lowest % control.world_size();
    const auto first_code = from_root(control, mine.code, static_cast<int>(first));
    if (control.rank() == first) std::rethrow_exception(mine.failure);
    throw PeerError(fmt::format("rank {} failed", first), static_cast<base::ExitCode>(first_code));
}

}  // namespace

void all_or_throw(Communicator& control, const std::function<void()>& work) {
    const Outcome mine = outcome_of(work);
    settle(control, mine, reduced(control, bid(control, mine), ReduceOp::min));
}

void on_root(Communicator& control, const std::function<void()>& work) {
    all_or_throw(control, [&] {
        if (control.rank() == 0) work();
    });
}

void all_or_throw_polling(Communicator& control, const std::function<void()>& work,
                          const std::function<void()>& beat) {
    constexpr Seconds kPatience(10), kForever(std::numeric_limits<double>::infinity());
    const Outcome mine = outcome_of(work);
    // On the heap, since MPI may still write to it after the request is abandoned.
    auto first = std::make_unique<std::int64_t>(bid(control, mine));
    Request request = control.start_allreduce(view(std::span(first.get(), 1)), ReduceOp::min);
    try {
        if (!completes(request, mine.failure ? kPatience : kForever, beat)) end_job(mine.failure);
    } catch (...) {
        request.abandon();
        static_cast<void>(first.release());
        throw;
    }
    settle(control, mine, *first);
}

std::optional<int> agree_on_exit(Communicator& comm, int code, double timeout_s) {
    std::int32_t largest = code;
    Request request = comm.start_allreduce(view(std::span(&largest, 1)), ReduceOp::max);
    if (completes(request, Seconds(timeout_s), [] {})) return largest;
    request.abandon();  // the caller ends the process; the destructor would wait
    return std::nullopt;
}

}  // namespace ranklab::comm
