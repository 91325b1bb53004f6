// A group of runs, whatever makes them alike. The unit is the run: one number a run.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "report/model/cores.hpp"
#include "report/model/surroundings.hpp"
#include "results/run.hpp"
#include "stats/summary.hpp"

namespace ranklab::report::model {

/// Things that are told apart by a key, in the order in which they were met.
template <class Key, class Thing>
class InOrderMet {
  public:
    /// A new one where the key was not met yet.
    Thing& operator[](const Key& key) {
        const auto [place, is_new] = places_.try_emplace(key, all_.size());
        if (is_new) all_.emplace_back();
        return all_[place->second];
    }
    std::vector<Thing>& all() { return all_; }
    const std::vector<Thing>& all() const { return all_; }

  private:
    std::vector<Thing> all_;
    std::map<Key, std::size_t> places_;
};

inline constexpr std::size_t kRunsForInterval = 6;  // fewer have no 95 % interval of a median

/// One measurement of a group: a median a run.
struct GroupValues {
    std::string unit;
    std::vector<double> medians;
    stats::Interval own;  ///< of the newest run
};

struct RunGroup {
    Conditions conditions;          ///< that all its runs meet
    std::vector<std::string> runs;  ///< ids of those that count: valid, the newest last
    std::size_t invalid = 0;        ///< left out
    std::size_t disturbed = 0;      ///< of those that count: others kept its hosts busy, or its clock moved
    std::string first_utc, last_utc;
    CoresOfRuns cores;  ///< of those that count
    std::map<std::string, GroupValues, std::less<>> values;

    std::size_t all() const { return runs.size() + invalid; }
    bool valid() const { return !runs.empty(); }
    /// nullptr where no run has it.
    const GroupValues* find(std::string_view measurement) const {
        const auto found = values.find(measurement);
        return found == values.end() ? nullptr : &found->second;
    }
    /// Its id and its cores, or that it is left out, and its time. A run with its hosts.
    void count(const results::Run& run) {
        if (run.valid) {
            runs.push_back(run.id);
            cores.add(cores_of(run));
            if (run.fact("place", "quiet") == "no") ++disturbed;
        } else {
            ++invalid;
        }
        if (first_utc.empty() || run.started_utc < first_utc) first_utc = run.started_utc;
        last_utc = std::max(last_utc, run.started_utc);
    }
    void add_value(const results::Measurement& m) {
        if (m.summary.n == 0) return;
        GroupValues& value = values[m.name];
        value.unit = m.unit;
        value.medians.push_back(m.summary.median);
        value.own = m.summary.ci95;
    }
};

/// What a group says of a measurement, wherever it is shown: the median over runs of the runs' medians with
/// its interval, or the one run's own.
struct Estimate {
    double value = stats::kNone;
    stats::Interval ci;    ///< over runs from kRunsForInterval on; of one run over its repetitions
    std::size_t runs = 0;  ///< 0: none has it
};
inline Estimate estimate(const RunGroup& group, std::string_view measurement) {
    const GroupValues* const values = group.find(measurement);
    if (values == nullptr) return {};
    const stats::Summary s = stats::summarise(values->medians);
    return {s.median, s.n == 1 ? values->own : s.ci95, s.n};
}

}  // namespace ranklab::report::model
