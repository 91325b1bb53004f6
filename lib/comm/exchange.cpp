#include "comm/exchange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <limits>
#include <memory>
#include <thread>

#include "base/cast.hpp"
#include "base/failure.hpp"
#include "comm/by_root.hpp"

namespace ranklab::comm {

std::vector<std::string> gather_texts(Communicator& control, const std::string& mine) {
    const std::size_t ranks = control.world_size();
    std::vector<std::int64_t> lengths(ranks);
    const std::int64_t length = std::ssize(mine);
    gather_to_all(control, view(std::span(&length, 1)), view(std::span(lengths)));
    const auto width = static_cast<std::size_t>(*std::max_element(lengths.begin(), lengths.end()));
    std::vector<char> padded(width);
    std::copy(mine.begin(), mine.end(), padded.begin());
    std::vector<char> all(width * ranks);
    gather_to_all(control, view(std::span(padded)), view(std::span(all)));

    std::vector<std::string> texts;
    for (std::size_t r = 0; r < ranks; ++r)
        texts.emplace_back(all.data() + r * width, static_cast<std::size_t>(lengths[r]));
    return texts;
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
    bool is_heard = false;  // of another rank's, which has the sentence
};

Outcome outcome_of(const std::function<void()>& work) {
    try {
        work();
        return {};
    } catch (const AloneError&) {
        throw;
    } catch (const PeerError& error) {
        return {std::current_exception(), base::number_of(error.code()), true};
    } catch (const std::exception& error) {
        return {std::current_exception(), base::number_of(base::describe_failure(error).code)};
    } catch (...) {
        return {std::current_exception(), base::number_of(base::ExitCode::internal)};
    }
}

[[noreturn]] void throw_alone(const std::exception_ptr& failure) {
    try {
        std::rethrow_exception(failure);
    } catch (const std::exception& error) {
        const auto [sentence, code, settings] = base::describe_failure(error);
        throw AloneError(sentence, code, settings);
    }
}

// The lowest of all ranks' is the rank that speaks: the lowest of those that failed by themselves.
std::int64_t bid(const Communicator& control, const Outcome& mine) {
    if (!mine.failure) return kNobody;
    return control.rank() + (mine.is_heard ? control.world_size() : 0);
}

void settle(Communicator& control, const Outcome& mine, std::int64_t lowest) {
    if (lowest == kNobody) return;
    const auto first = lowest % control.world_size();
    const auto first_code = from_root(control, mine.code, static_cast<int>(first));
    if (control.rank() == first) std::rethrow_exception(mine.failure);
    throw PeerError(fmt::format("rank {} failed", first), static_cast<base::ExitCode>(first_code));
}

}  // namespace

void together(Communicator& control, const std::function<void()>& work) {
    const Outcome mine = outcome_of(work);
    std::int64_t lowest = bid(control, mine);
    reduce_to_all(control, view(std::span(&lowest, 1)), ReduceOp::min);
    settle(control, mine, lowest);
}

void together_politely(Communicator& control, const std::function<void()>& work,
                       const std::function<void()>& beat, double patience_s,
                       std::chrono::microseconds longest_pause) {
    using Clock = std::chrono::steady_clock;
    constexpr auto kShortest = std::chrono::microseconds(50);
    const Outcome mine = outcome_of(work);
    // On the heap: an abandoned request may still be written to.
    auto first = std::make_unique<std::int64_t>(bid(control, mine));
    Request request = control.start_allreduce(view(std::span(first.get(), 1)), ReduceOp::min);
    const auto deadline = Clock::now() + std::chrono::duration<double>(patience_s);
    try {
        for (std::chrono::microseconds pause = kShortest; !request.test();
             pause = std::min(2 * pause, longest_pause)) {
            if (mine.failure && Clock::now() > deadline) throw_alone(mine.failure);
            beat();
            std::this_thread::sleep_for(pause);
        }
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
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(timeout_s);
    while (!request.test()) {
        // The request must not be waited for by its destructor: the caller ends the process.
        if (std::chrono::steady_clock::now() > deadline) {
            request.abandon();
            return std::nullopt;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return largest;
}

}  // namespace ranklab::comm
