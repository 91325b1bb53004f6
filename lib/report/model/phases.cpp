#include "report/model/phases.hpp"

#include <fmt/format.h>

#include "base/io_times.hpp"

namespace ranklab::report::model {

const std::vector<std::string>& step_phases() {
    static const std::vector<std::string> kNames{"data_time_s",      "copy_time_s",     "scatter_time_s",
                                                 "replicate_time_s", "forward_time_s",  "gather_time_s",
                                                 "backward_time_s",  "reduce_time_s",   "sync_exposed_time_s",
                                                 "sync_time_s",      "optimizer_time_s"};
    return kNames;
}

const std::vector<std::string>& io_phases() {
    static const std::vector<std::string> kNames = [] {
        std::vector<std::string> names{"setup_time_s"};
        for (const auto phase : base::kIoPhaseNames)
            if (phase != "read" && phase != "parse") names.push_back(fmt::format("{}_time_s", phase));
        return names;
    }();
    return kNames;
}

const std::vector<Whole>& wholes() {
    static const std::vector<Whole> kWholes{{"step_time_s", &step_phases()}, {"job_time_s", &io_phases()}};
    return kWholes;
}

}  // namespace ranklab::report::model
