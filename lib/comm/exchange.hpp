// Exchanges values, errors and exit codes over the control plane. All ranks make the same calls.
#pragma once

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

/// Returns the texts of all ranks, on every rank.
std::vector<std::string> gather_texts(Communicator& control, const std::string& mine);
/// Whether all ranks have the same text. Compares 64-bit hashes, so that long texts stay cheap.
bool is_same_everywhere(Communicator& control, const std::string& mine);
/// Returns root's text, on every rank.
std::string broadcast_text(Communicator& control, const std::string& text, int root);
/// Throws EnvironmentError unless the bytes hold a Value: the sender is another build of ranklab.
template <class Value>
Value unpack_or_throw(const std::string& bytes) {
    if (auto value = base::unpacked<Value>(bytes)) return *std::move(value);
    throw base::EnvironmentError(
        "ranks run different ranklab builds; install one build on every node");
}
/// Returns the values of all ranks, on every rank. Value: any type that base::packed takes.
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
/// Returns root's value, on every rank. Value: any type that base::packed takes.
template <class Value>
Value from_root(Communicator& control, Value mine, int root = 0) {
    if constexpr (std::is_trivially_copyable_v<Value>) {
        control.broadcast(view(std::as_writable_bytes(std::span(&mine, 1))), root);
        return mine;
    } else {
        return unpack_or_throw<Value>(broadcast_text(control, base::packed(mine), root));
    }
}
/// Returns the reduction of all ranks' values, on every rank.
template <class Value>
Value reduced(Communicator& control, Value mine, ReduceOp op) {
    control.allreduce(view(std::span(&mine, 1)), op);
    return mine;
}

/// Thrown on a rank because another rank failed: the failed rank throws the error itself.
struct PeerError : base::Error {
    using base::Error::Error;
};

/// Runs `work` on each rank. If any rank throws, all throw, so that none waits for a failed rank:
/// the lowest failed rank rethrows its error, the others throw PeerError with its exit code. A
/// PeerError from `work` itself counts only if no rank has an error of its own.
void all_or_throw(Communicator& control, const std::function<void()>& work);
/// all_or_throw() for work of rank 0 alone.
void on_root(Communicator& control, const std::function<void()>& work);

/// all_or_throw() for long work: a rank that is done sleeps between polls, and calls `beat` at
/// each. A failed rank waits 10 s for the others, which may hang in a collective without it; then
/// it prints its error and ends the job.
void all_or_throw_polling(
    Communicator& control, const std::function<void()>& work,
    const std::function<void()>& beat = [] {});

/// Throws an error that all ranks know: ErrorType on rank `speaker`, PeerError with the same exit
/// code on the others, so that the sentence is printed once.
template <class ErrorType>
[[noreturn]] void throw_on_all(const Communicator& control, int speaker,
                               const std::string& sentence, const base::Settings& settings = {}) {
    const ErrorType error(sentence, settings);
    if (control.rank() == speaker) throw error;
    throw PeerError(sentence, error.code());
}

/// Returns the largest exit code of all ranks; nullopt if a rank does not take part within
/// `timeout_s`, since it is dead or in another collective. Infinity: only the watchdog ends the
/// wait. `comm` must be used for nothing else.
std::optional<int> agree_on_exit(Communicator& comm, int code, double timeout_s);

}  // namespace ranklab::comm
