#pragma once

#include "io/strategy.hpp"

namespace ranklab::io {

StrategyEntry template_strategy_entry();
StrategyEntry template_workers_entry();

}  // namespace ranklab::io
