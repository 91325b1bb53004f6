// Texts, verdicts and exit codes exchanged between ranks over the control plane.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "base/error.hpp"
#include "base/pack.hpp"
#include "comm/communicator.hpp"

namespace ranklab::comm {

/// Every rank's text, by rank, on every rank.
std::vector<std::string> gather_texts(Communicator& control, const std::string& mine);
/// Whether all ranks have the same text, by 64 bits of it: small reductions, however long it is.
bool is_same_everywhere(Communicator& control, const std::string& mine);
/// Root's text, on every rank.
std::string broadcast_text(Communicator& control, const std::string& text, int root);
/// EnvironmentError where the bytes are not such a value: they are of another build.
template <class Value>
Value unpack_or_throw(const std::string& bytes) {
    if (auto value = base::unpacked<Value>(bytes)) return *std::move(value);
    throw base::EnvironmentError(
        "a rank speaks another form: install the same ranklab on every node, and start it on all "
        "ranks");
}
/// Every rank's value, by rank, on every rank: all that base::pack takes.
template <class Value>
std::vector<Value> gather_values(Communicator& control, const Value& mine) {
    std::vector<Value> all;
    if constexpr (std::is_trivially_copyable_v<Value>) {
        all.resize(control.world_size());
        control.allgather(view(std::as_bytes(std::span(&mine, 1))),
                          view(std::as_writable_bytes(std::span(all))));
    } else {
        for (const auto& bytes : gather_texts(control, base::packed(mine)))
            all.push_back(unpack_or_throw<Value>(bytes));
    }
    return all;
}
/// Root's value, on every rank: the same.
template <class Value>
Value from_root(Communicator& control, Value mine, int root = 0) {
    if constexpr (std::is_trivially_copyable_v<Value>) {
        control.broadcast(view(std::as_writable_bytes(std::span(&mine, 1))), root);
        return mine;
    } else {
        return unpack_or_throw<Value>(broadcast_text(control, base::packed(mine), root));
    }
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

/// Runs `work` on each rank; all ranks learn the result, so that none waits for one that failed. If
/// any threw, the lowest of them rethrows its error and all others throw PeerError with its exit
/// code. A PeerError of a group within the group counts only where no rank has an error of its own.
void all_or_throw(Communicator& control, const std::function<void()>& work);

/// Like together(), for long work in which some ranks may have no part: a rank that is done sleeps
/// between looks and calls `beat` at each. A rank that failed waits 10 s for the others, which may
/// be in a collective that it left; then it prints its error and ends the job.
void all_or_throw_polling(
    Communicator& control, const std::function<void()>& work,
    const std::function<void()>& beat = [] {});

/// For errors that all ranks know: rank `speaker` throws an ErrorType with the sentence, the others
/// a PeerError with the same sentence and exit code, so that it is printed once.
template <class ErrorType>
[[noreturn]] void throw_on_all(const Communicator& control, int speaker,
                               const std::string& sentence, const base::Settings& settings = {}) {
    const ErrorType error(sentence, settings);
    if (control.rank() == speaker) throw error;
    throw PeerError(sentence, error.code());
}

/// The largest code of all ranks; nullopt if the others did not come within `timeout_s`
/// (they may be dead or in another collective; infinity: the watchdog ends the wait). `comm` must
/// be used for nothing else.
std::optional<int> agree_on_exit(Communicator& comm, int code, double timeout_s);

}  // namespace ranklab::comm
