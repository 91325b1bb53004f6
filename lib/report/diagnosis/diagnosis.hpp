// Why a training run is slow: what binds its step, and what to try (docs/why.md).
#pragma once

#include <array>
#include <string>
#include <vector>

#include "forecast/pop.hpp"
#include "report/frame/frame.hpp"
#include "results/result_file.hpp"

namespace ranklab::report::diagnosis {

struct Advice {
    Remedy remedy = Remedy::ablation;
    std::string value = {};  ///< of the option
    Cell gain = {};          ///< percent of the time per sample
    /// Not all of it is measured; its interval holds all that the rest may be.
    bool in_part = false;
};

struct Diagnosis {
    std::string run = {};  ///< its id
    Reason reason = {};
    forecast::Efficiencies found = {};  ///< zeros where the run does not store its parts
    Cell parallel = {};                 ///< efficiency, and its factors
    std::array<Cell, forecast::kLosses> factors = {};
    double start_up_s = stats::kNone, start_up_share = stats::kNone;  ///< of the whole run
    std::vector<Advice> advice = {};  ///< at most three: sure gains first, the largest first
};
/// `run`: with its samples. `network`: more to try where communication limits. OptionError where it
/// is not a training run.
Diagnosis diagnose(const results::Run& run, const std::vector<Advice>& network = {});
/// The run of that id, with the bucket cap that report/predict forecasts by the file's other runs.
Diagnosis diagnose(const results::ResultFile& file, const std::string& id);

/// A row a part of the mean step: seconds, share, and factor of the parallel efficiency.
Frame frame_of(const Diagnosis& found);
Frame advice_frame(const Diagnosis& found);
std::string text_of(const Diagnosis& found);
/// One line.
std::string json_of(const Diagnosis& found);
std::string html_of(const Diagnosis& found);

}  // namespace ranklab::report::diagnosis
