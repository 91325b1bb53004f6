// What ranks tell each other over the control plane: texts, verdicts, exit codes.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "base/error.hpp"
#include "comm/communicator.hpp"

namespace ranklab::comm {

/// Every rank's text, by rank, on every rank.
std::vector<std::string> gather_texts(Communicator& control, const std::string& mine);
/// Root's text, on every rank.
std::string broadcast_text(Communicator& control, const std::string& text, int root);
/// Every rank's value, by rank, on every rank: a number, or a struct of numbers, as its bytes.
template <class Value>
std::vector<Value> gather_values(Communicator& control, const Value& mine) {
    static_assert(std::is_trivially_copyable_v<Value>);
    std::vector<Value> all(control.world_size());
    control.allgather(view(std::as_bytes(std::span(&mine, 1))), view(std::as_writable_bytes(std::span(all))));
    return all;
}
/// The same of lists that differ in length.
template <class Value>
std::vector<std::vector<Value>> gather_lists(Communicator& control, const std::vector<Value>& mine) {
    static_assert(std::is_trivially_copyable_v<Value>);
    const auto* const bytes = reinterpret_cast<const char*>(mine.data());
    std::vector<std::vector<Value>> lists;
    for (const auto& text : gather_texts(control, {bytes, mine.size() * sizeof(Value)})) {
        auto& list = lists.emplace_back(text.size() / sizeof(Value));
        std::copy(text.begin(), text.end(), reinterpret_cast<char*>(list.data()));
    }
    return lists;
}
/// Root's value, on every rank: a number, or a struct of numbers.
template <class Value>
Value from_root(Communicator& control, Value mine, int root = 0) {
    static_assert(std::is_trivially_copyable_v<Value>);
    control.broadcast(view(std::as_writable_bytes(std::span(&mine, 1))), root);
    return mine;
}
/// The ranks' values as one, on every rank.
template <class Value>
Value reduced(Communicator& control, Value mine, ReduceOp op) {
    control.allreduce(view(std::span(&mine, 1)), op);
    return mine;
}

/// Thrown on the ranks whose own part went well; the rank that failed has the sentence.
struct PeerError : base::Error {
    using base::Error::Error;
};

/// Thrown in place of a rank's own error, with its sentence and code, where the others did not come to hear
/// of it: they are elsewhere, and nothing collective can be done any more.
struct AloneError : base::Error {
    using base::Error::Error;
};

/// Runs `work` on each rank and lets all ranks know how it went, so that none waits for one that failed:
/// if any threw, the lowest of them rethrows its error and all others throw PeerError with its exit code.
void together(Communicator& control, const std::function<void()>& work);

/// The same for long work of which some ranks may have none: who is done waits without taking a core from
/// those who work, and calls `beat` meanwhile. A rank that failed waits `patience_s` for the others and
/// throws its error as an AloneError then: they may be in a collective that it left. `control` is of no more
/// use there.
void together_politely(Communicator& control, const std::function<void()>& work,
                       const std::function<void()>& beat, double patience_s = 10);

/// For what all ranks know: rank `speaker` throws an ErrorType with the sentence, the others a PeerError with
/// the same sentence and exit code, so that it is told once.
template <class ErrorType>
[[noreturn]] void throw_on_all(const Communicator& control, int speaker, const std::string& sentence,
                               const base::Settings& settings = {}) {
    const ErrorType error(sentence, settings);
    if (control.rank() == speaker) throw error;
    throw PeerError(sentence, error.code());
}

/// The largest code of all ranks; nullopt if the others did not come within `timeout_s`
/// (they may be dead or in another collective). `comm` must be used for nothing else.
std::optional<int> agree_on_exit(Communicator& comm, int code, double timeout_s);

}  // namespace ranklab::comm
