#include "experiments/shared/stop_notes.hpp"

#include <cstdint>
#include <span>

#include "base/stop_signals.hpp"
#include "comm/point_to_point.hpp"

namespace ranklab::experiments {
namespace {

constexpr int kTag = 79;
constexpr auto kBetweenLooks = std::chrono::milliseconds(100);

}  // namespace

int StopNotes::heard() {
    if (signal_ != 0) return signal_;
    signal_ = base::StopSignals::received();
    if (signal_ == 0) return heard_from_others();
    pass_on();
    return signal_;
}

int StopNotes::heard_from_others() {
    if (signal_ != 0 || control_.world_size() == 1) return signal_;
    const auto now = Clock::now();
    if (now - looked_at_ < kBetweenLooks) return 0;
    looked_at_ = now;
    if (!comm::probe(control_, comm::kAnyRank, kTag, comm::DType::i32)) return 0;
    std::int32_t note = 0;
    comm::receive(control_, comm::view(std::span(&note, 1)), comm::kAnyRank, kTag);
    signal_ = note;
    if (control_.rank() == 0) pass_on();
    return signal_;
}

// So that a signal to all ranks makes two notes a rank.
void StopNotes::pass_on() const {
    if (control_.rank() != 0) return send_to(0);
    for (int rank = 1; rank < control_.world_size(); ++rank) send_to(rank);
}

void StopNotes::send_to(int rank) const {
    std::int32_t note = signal_;
    comm::send(control_, comm::view(std::span(&note, 1)), rank, kTag);
}

}  // namespace ranklab::experiments
