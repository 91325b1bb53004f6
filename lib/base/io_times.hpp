// The times that one rank or worker process spent in each phase of writing and reading files. Plain
// data of fixed size: worker processes send it back, and ranks gather it.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/handle.hpp"
#include "base/numbers.hpp"

namespace ranklab::base {

/// The phases of one record, in order. open includes creating the file or its datasets. send hands
/// data to another process, wait waits for another process.
enum class IoPhase : std::size_t {
    generate,
    format,
    send,
    wait,
    open,
    write,
    fsync,
    close,
    read,
    parse
};

inline constexpr std::array<std::string_view, 10> kIoPhaseNames{
    "generate", "format", "send", "wait", "open", "write", "fsync", "close", "read", "parse"};
inline constexpr std::size_t kIoPhaseCount = kIoPhaseNames.size();

/// Above this percentage the ceiling was not the limit; the extra 5 % allow for noise.
inline constexpr double kMostOfCeiling = 105;

/// Number of calls of one phase, and their times.
struct IoTally {
    double calls = 0;
    double total_s = 0;
    double longest_s = 0;
    double shortest_s = std::numeric_limits<double>::infinity();
    double squares_s2 = 0;  ///< NaN if several ranks make one call together

    void add(double seconds, double more_calls = 1) {
        constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
        merge({more_calls, seconds, seconds, seconds, more_calls == 1 ? seconds * seconds : kNaN});
    }
    void merge(const IoTally& other) {
        calls += other.calls;
        total_s += other.total_s;
        longest_s = std::max(longest_s, other.longest_s);
        shortest_s = std::min(shortest_s, other.shortest_s);
        squares_s2 += other.squares_s2;
    }
    /// Standard deviation of a call's time; NaN for fewer than 2 calls, or calls shared by ranks.
    double deviation_s() const {
        return std::sqrt(std::max(squares_s2 - total_s * total_s / calls, 0.0) / (calls - 1));
    }
};

/// When a phase, or a record with all its phases, began and ended. Sent as its bytes.
struct IoEvent {
    std::size_t what = 0;  ///< index in kIoPhaseNames; kIoPhaseCount: a whole record
    Clock::time_point begin, end;

    double seconds() const { return seconds_between(begin, end); }
};

class IoTimes {
  public:
    using Clock = base::Clock;  // CLOCK_MONOTONIC: shared by all processes of a node

    /// Also appends each event to `events`, which must outlive all later add() and add_record().
    void keep(std::vector<IoEvent>& events) { events_ = &events; }

    void add(IoPhase phase, Clock::time_point begin, Clock::time_point end) {
        if (events_ != nullptr) events_->push_back({number_of(phase), begin, end});
        tallies_[number_of(phase)].add(seconds_between(begin, end));
        if (phase == IoPhase::open) first_open_s_ = std::min(first_open_s_, since_epoch(begin));
        if (phase == IoPhase::close) last_close_s_ = std::max(last_close_s_, since_epoch(end));
    }
    /// Adds a finished record, whose phases lie between `begin` and `end`. If several ranks write
    /// one record together, each adds its own bytes, and one rank passes `records` 1, the others 0.
    void add_record(Clock::time_point begin, Clock::time_point end, double bytes,
                    double records = 1) {
        if (events_ != nullptr) events_->push_back({kIoPhaseCount, begin, end});
        records_.add(seconds_between(begin, end), records);
        bytes_ += bytes;
    }
    void merge(const IoTimes& other) {
        for (std::size_t i = 0; i < kIoPhaseCount; ++i) tallies_[i].merge(other.tallies_[i]);
        records_.merge(other.records_);
        bytes_ += other.bytes_;
        first_open_s_ = std::min(first_open_s_, other.first_open_s_);
        last_close_s_ = std::max(last_close_s_, other.last_close_s_);
    }

    const IoTally& of(IoPhase phase) const { return tallies_[number_of(phase)]; }
    const IoTally& records() const { return records_; }
    double bytes() const { return bytes_; }
    /// Seconds on this node's steady clock; +infinity if nothing was opened, -infinity if nothing
    /// was closed.
    double first_open_s() const { return first_open_s_; }
    double last_close_s() const { return last_close_s_; }
    static double since_epoch(Clock::time_point when) {
        return seconds_of(when.time_since_epoch());
    }

    /// Times a phase until the returned object is destroyed:
    ///   auto p = times.phase(IoPhase::write);
    class PhaseScope : Immovable {
      public:
        PhaseScope(IoTimes& times, IoPhase phase)
            : times_(times), phase_(phase), begin_(Clock::now()) {}
        ~PhaseScope() { times_.add(phase_, begin_, Clock::now()); }

      private:
        IoTimes& times_;
        IoPhase phase_;
        Clock::time_point begin_;
    };
    [[nodiscard]] PhaseScope phase(IoPhase phase) { return PhaseScope(*this, phase); }

  private:
    std::array<IoTally, kIoPhaseCount> tallies_{};
    IoTally records_;
    double bytes_ = 0;
    double first_open_s_ = std::numeric_limits<double>::infinity();
    double last_close_s_ = -std::numeric_limits<double>::infinity();
    std::vector<IoEvent>* events_ = nullptr;  // invalid in another process
};

}  // namespace ranklab::base
