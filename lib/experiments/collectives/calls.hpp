// The timed loops of `ranklab comm`: calls, and calls started beside compute (--nonblocking).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "comm/communicator.hpp"

namespace ranklab::experiments {

/// --blocking 0 to 4: what synchronises ranks between two calls.
enum class CallSync {
    nothing_loop,    ///< nothing; the loop is timed as a whole
    barrier_inside,  ///< a barrier after each call, timed with it
    nothing,         ///< nothing; each call is timed
    barrier,         ///< a barrier after each call, not timed
    window           ///< all ranks begin at an agreed time of a common clock
};

/// --average 0 to 3: how the ranks' times of a call become one.
enum class RankReduction { rank_0, mean, shortest, longest };

/// Folds the ranks' times of a call into one, leaving out NaN, the time of ranks without a part in
/// the operation. Returns NaN if no rank has a part. rank_0 takes the lowest rank with a part.
double over_ranks(std::span<const double> of_ranks, RankReduction policy);

/// --fault: an error made on purpose, to test that it is detected.
struct Fault {
    int flips_on_rank = -1;   ///< flips a bit of this rank's results; -1: of no rank's
    int sleeps_on_rank = -1;  ///< delays each call of this rank by sleep_s
    double sleep_s = 0;
};
/// Throws OptionError unless the text is flip:RANK or sleep:RANK:MS.
Fault parse_fault(const std::string& text);

struct CallTimes {
    /// One value per call. With CallSync::nothing_loop one value: the mean.
    std::vector<double> seconds;
    std::vector<double> came_s;  ///< begin of each timed call, on this rank's clock
    double wall_s = 0;           ///< of the whole loop
    int late_begins = 0;         ///< CallSync::window: calls begun after the agreed time

    void add(const CallTimes& later);
};

/// Counts the barriers that a rank of `control` left more than `error_s` before another rank
/// arrived. Leaves out ranks with NaN times. `offset_s`: this rank's clock offset. Collective.
std::int64_t early_leavers(const CallTimes& times, comm::Communicator& control, double offset_s,
                           double error_s);

/// A group of ranks that communicate: the whole job, the ranks of one host, one rank of each host.
struct Level {
    std::string name;    ///< job, host, hosts
    int ranks = 1;       ///< in one group; the same on all ranks of the job
    bool active = true;  ///< this rank belongs to a group
    std::shared_ptr<comm::Communicator> data = nullptr, control = nullptr;  ///< of the group
};

/// Returns the level "job" and, with `all` on several hosts of which one has several ranks, "host"
/// and "hosts". In "host" only the hosts with the most ranks take part. `hosts`: host name of each
/// rank. Collective.
std::vector<Level> make_levels(comm::Communicator& data, comm::Communicator& control,
                               const std::vector<std::string>& hosts, bool all);

/// The calls of one message on this rank.
struct Caller {
    const Level& level;
    comm::Transfer transfer = {};
    bool takes_part = false;    ///< this rank has a part in the operation
    double clock_offset_s = 0;  ///< this rank's clock minus the common clock
    double ahead_s = 0;         ///< CallSync::window: from announcing to the agreed time
    double clock_error_s = 0;
    double sleep_s = 0;  ///< before each call (--fault)
};

/// Makes and times `calls` calls. Collective over the ranks of the level, including ranks without a
/// part in the operation, whose times are NaN.
CallTimes time_calls(const Caller& caller, CallSync between, int calls);

/// Computes in the L1 cache, in units that take less than a microsecond.
class Compute {
  public:
    Compute() { numbers_.fill(0.5F); }
    /// Computes `units` units, and calls `between` some twenty times meanwhile.
    void work(std::int64_t units, const std::function<void()>& between = {});
    /// Returns the number of units that take about `seconds` on this core now.
    std::int64_t units_of(double seconds);

  private:
    void unit();

    std::array<float, 512> numbers_;
};

/// Times of each counted call, as OSU's non-blocking benchmarks define them.
struct StartedTimes {
    std::vector<double> pure;     ///< start and wait, nothing between
    std::vector<double> compute;  ///< the compute alone
    std::vector<double> overall;  ///< start, compute, wait
};

/// Returns this rank's times in seconds. The compute takes as long as the operation alone does on
/// the slowest rank (median over calls), and drives MPI progress if it `polls`. A barrier precedes
/// each call. Collective.
StartedTimes time_started(const Caller& caller, int warmup, int calls, bool polls,
                          Compute& compute);

/// Maximum over the participating ranks, in us. Other ranks give empty `seconds`. Collective.
StartedTimes longest_us(comm::Communicator& control, StartedTimes seconds, int calls);

}  // namespace ranklab::experiments
