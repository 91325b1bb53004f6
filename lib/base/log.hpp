// The log: one line per message on stderr. stdout belongs to the report.
#pragma once

#include <string>
#include <string_view>

#include "base/error.hpp"

namespace ranklab::base::log {

/// Tags later lines with "rank 3 on node07".
void set_rank(int rank, std::string_view host);

void info(std::string_view message);
void warn(std::string_view message);
/// Logs the sentence; the message formatter appends the options of `settings`.
void error(std::string sentence, const Settings& settings = {});

/// Sets the function that appends options; without it settings are not shown. Call it once, before
/// threads start.
using MessageFormatter = std::string (*)(std::string sentence, const Settings& settings);
void set_message_formatter(MessageFormatter formatter);

}  // namespace ranklab::base::log
