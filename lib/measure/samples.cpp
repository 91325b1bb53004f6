#include "measure/samples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/error.hpp"

namespace ranklab::measure {
namespace {

// The phases data and copy are the host's work.
bool on_device(base::Phase phase) {
    return phase != base::Phase::data && phase != base::Phase::copy;
}

constexpr std::size_t kPieceValues = std::size_t{1} << 15U;  // of all ranks together

// Calls take(row) for each row in order; a row has one value per rank.
template <class Take>
void visit_rows(comm::Communicator& control, std::span<const double> mine, Take take) {
    const auto ranks = static_cast<std::size_t>(control.world_size());
    const std::size_t most = std::max<std::size_t>(1, kPieceValues / ranks);
    std::vector<double> by_rank, row(ranks);
    for (; !mine.empty(); mine = mine.subspan(std::min(most, mine.size()))) {
        const auto piece = mine.first(std::min(most, mine.size()));
        by_rank.resize(piece.size() * ranks);
        control.allgather(comm::view(piece), comm::view(std::span(by_rank)));
        for (std::size_t i = 0; i < piece.size(); ++i) {
            for (std::size_t rank = 0; rank < ranks; ++rank)
                row[rank] = by_rank[rank * piece.size() + i];
            take(std::span<const double>(row));
        }
    }
}

}  // namespace

std::int64_t default_warmup(std::int64_t steps) {
    return std::min<std::int64_t>(10, steps / 10);
}

Schedule schedule_steps(std::int64_t steps, std::int64_t warmup, std::int64_t steps_per_epoch) {
    return {.warmup = warmup, .total = warmup + steps, .steps_per_epoch = steps_per_epoch};
}

Schedule schedule_epochs(std::int64_t epochs, std::int64_t warmup, std::int64_t steps_per_epoch) {
    const std::int64_t total = epochs * steps_per_epoch;
    if (warmup >= total)
        throw base::OptionError(
            fmt::format("a warm-up of {} steps leaves none of the {} steps to measure; give more "
                        "epochs or a shorter warm-up",
                        warmup, total),
            {"epochs", "warmup"});
    return {.warmup = warmup, .total = total, .steps_per_epoch = steps_per_epoch};
}

Schedule resume_after(Schedule schedule, std::int64_t completed) {
    if (completed >= schedule.total)
        throw base::OptionError(fmt::format("all {} steps are already done: the checkpoint was "
                                            "written after step {}; give more steps",
                                            schedule.total, completed),
                                {"steps", "epochs"});
    schedule.first = completed;
    schedule.warmup = std::min(schedule.warmup, schedule.total - completed - 1);
    return schedule;
}

void PhaseRecorder::begin_step() {
    current_ = {};
    step_start_ = Clock::now();
}

void PhaseRecorder::end_step() {
    current_.step = base::seconds_since(step_start_);
    for (std::size_t i = 0; i < host_.size(); ++i) host_[i] += current_.phases[i];
}

void PhaseRecorder::correct_last(base::Phase phase, double seconds) {
    current_.phases[base::number_of(phase)] = seconds;
}

void PhaseRecorder::enter(base::Phase) {
    phase_start_ = Clock::now();
}

void PhaseRecorder::leave(base::Phase phase) {
    const auto index = base::number_of(phase);
    last_[index] = {phase_start_, Clock::now()};
    current_.phases[index] += base::seconds_between(phase_start_, last_[index].end);
}

void DevicePhases::enter(base::Phase phase) {
    recorder_.enter(phase);
    if (!on_device(phase)) return;
    if (used_ == spans_.size()) spans_.emplace_back();
    spans_[used_].phase = phase;
    spans_[used_].begin.record(device::compute_stream());
}

void DevicePhases::leave(base::Phase phase) {
    if (on_device(phase)) spans_[used_++].end.record(device::compute_stream());
    recorder_.leave(phase);
}

void DevicePhases::finish_step() {
    device::synchronize(device::compute_stream());
    recorder_.end_step();
    std::array<double, base::kPhaseCount> seconds{};
    for (std::size_t i = 0; i < used_; ++i)
        seconds[base::number_of(spans_[i].phase)] += spans_[i].end.seconds_since(spans_[i].begin);
    used_ = 0;
    for (std::size_t phase = 0; phase < seconds.size(); ++phase) {
        if (on_device(static_cast<base::Phase>(phase)))
            recorder_.correct_last(static_cast<base::Phase>(phase), seconds[phase]);
    }
}

RankSamples gather_columns(comm::Communicator& control, std::span<const double> mine) {
    RankSamples all{static_cast<std::size_t>(control.world_size()), {}};
    all.values.reserve(mine.size() * all.ranks);
    visit_rows(control, mine, [&](std::span<const double> row) {
        all.values.insert(all.values.end(), row.begin(), row.end());
    });
    return all;
}

RankSamples gather_samples(comm::Communicator& control, std::span<const double> mine,
                           std::size_t ranks) {
    const bool has_all = control.rank() == 0;
    RankSamples samples{has_all ? ranks : 1, {}};
    samples.values.reserve(mine.size() * samples.ranks);
    visit_rows(control, mine, [&](std::span<const double> row) {
        const auto some = row.first(ranks);
        if (has_all)
            samples.values.insert(samples.values.end(), some.begin(), some.end());
        else
            samples.values.push_back(*std::ranges::max_element(some));
    });
    return samples;
}

std::vector<double> largest_of_ranks(comm::Communicator& control, std::vector<double> mine) {
    control.allreduce(comm::view(std::span(mine)), comm::ReduceOp::max);
    return mine;
}

std::vector<double> sums_of_ranks(comm::Communicator& control, std::vector<double> mine) {
    control.allreduce(comm::view(std::span(mine)), comm::ReduceOp::sum);
    return mine;
}

std::vector<double> ordered_sums_of_ranks(comm::Communicator& control,
                                          std::span<const double> mine) {
    std::vector<double> sums;
    visit_rows(control, mine, [&](std::span<const double> row) {
        sums.push_back(std::accumulate(row.begin(), row.end(), 0.0));
    });
    return sums;
}

}  // namespace ranklab::measure
