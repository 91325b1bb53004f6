// Private to this room: a stored table as a page shows it.
#pragma once

#include <string>

#include "report/figures/figure.hpp"

namespace ranklab::report::figures {

/// Its columns, units in the heads, without texts that say nothing: blank ones, and those that are the same
/// in all of several rows. No rows where the run has no such table.
NumberTable stored_table(const results::Run& run, const std::string& name, const std::string& title);

}  // namespace ranklab::report::figures
