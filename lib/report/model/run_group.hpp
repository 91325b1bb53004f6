// A group of runs, whatever makes them alike. The unit is the run: one number a run.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "report/model/surroundings.hpp"
#include "results/run.hpp"
#include "stats/summary.hpp"

namespace ranklab::report::model {

/// One measurement of a group: a median a run.
struct GroupValues {
    std::string unit;
    std::vector<double> medians;
    stats::Interval own;  ///< of the newest run
};

struct RunGroup {
    Conditions surroundings;        ///< of all its runs
    std::vector<std::string> runs;  ///< ids of those that count: valid, the newest last
    std::size_t invalid = 0;        ///< left out
    std::map<std::string, GroupValues> values;

    std::size_t all() const { return runs.size() + invalid; }
    /// nullptr where no run has it.
    const GroupValues* find(const std::string& measurement) const {
        const auto found = values.find(measurement);
        return found == values.end() ? nullptr : &found->second;
    }
    void add_value(const results::Measurement& m) {
        if (m.summary.n == 0) return;
        GroupValues& value = values[m.name];
        value.unit = m.unit;
        value.medians.push_back(m.summary.median);
        value.own = m.summary.ci95;
    }
};

}  // namespace ranklab::report::model
