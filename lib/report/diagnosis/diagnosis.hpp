// Why a training run is slow: what binds its step, and what to try (docs/why.md).
#pragma once

#include <string>

#include "report/frame/frame.hpp"
#include "results/run.hpp"

namespace ranklab::report::diagnosis {

struct Diagnosis {
    std::string run = {};                          ///< its id
    std::string bound = {}, cause = {}, why = {};  ///< words of docs/why.md; a sentence
    /// A row a part of the mean step, with its factor of the parallel efficiency, that of the step;
    /// without rows where the run does not store them.
    Frame parts = {};
    double start_up_s = stats::kNone;
    Frame advice = {};  ///< at most three rows: sure gains first, the largest first
};
/// `run`: of train, with its samples.
Diagnosis diagnose(const results::Run& run);

std::string text_of(const Diagnosis& found);
/// One line.
std::string json_of(const Diagnosis& found);
std::string html_of(const Diagnosis& found);

}  // namespace ranklab::report::diagnosis
