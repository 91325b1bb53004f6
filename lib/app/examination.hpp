// What `ranklab doctor` found, and how a program reads it.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "app/start_up_parts.hpp"
#include "base/error.hpp"
#include "host/conditions.hpp"
#include "host/finding.hpp"
#include "host/placement.hpp"
#include "results/run.hpp"

namespace ranklab::app {

struct Examination {
    std::vector<host::Placement> placements;
    std::vector<host::Finding> findings = {};
    std::vector<host::ClockOffset> clocks = {};
    std::vector<results::Fact> facts = {};
    std::vector<StartUpPart> start_up = {};  ///< until the placements were gathered

    int exit_code() const {
        return std::ranges::any_of(findings, &host::Finding::fatal)
                   ? base::number_of(base::ExitCode::environment)
                   : 0;
    }
};

/// One object by docs/schema/doctor.schema.json, and a newline.
std::string doctor_json(const Examination& seen);

}  // namespace ranklab::app
