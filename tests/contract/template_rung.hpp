#pragma once

#include "io/strategy.hpp"

namespace ranklab::io {

StrategyEntry template_rung_entry();

}  // namespace ranklab::io
