// The log: one line a message on stderr, tagged with the rank and host once they are known.
// stdout is left to the report.
#pragma once

#include <string>
#include <string_view>

#include "base/error.hpp"

namespace ranklab::base::log {

/// Tags each line from now on with "rank 3 on node07". Until then it has the program's name alone.
void set_rank(int rank, std::string_view host);

void info(std::string_view message);
void warn(std::string_view message);
void error(std::string_view message);
/// `settings` mend what the sentence says; the user reads them as `Teller` spells them.
void error(std::string sentence, const Settings& settings);

using Teller = std::string (*)(std::string sentence, const Settings& settings);
/// Sets how messages name the options for a setting. To be called once, before threads; until then
/// messages name none.
void set_teller(Teller teller);

}  // namespace ranklab::base::log
