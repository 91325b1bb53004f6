// Private to lib/report/diagnosis.
#pragma once

#include "report/diagnosis/diagnosis.hpp"
#include "report/model/steps.hpp"

namespace ranklab::report::diagnosis {

using model::Parts, model::Steps, results::Run;

/// Options to try: known savings before upper bounds, the largest first.
Frame advice_for(const Steps& all, Cause cause, const predict::CapAdvice& cap);

}  // namespace ranklab::report::diagnosis
