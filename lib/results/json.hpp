// A run's configuration, surroundings and warnings as the JSON texts of the results file. The texts
// are always valid JSON in UTF-8 (bytes that are not UTF-8 become U+FFFD).
#pragma once

#include <string>
#include <vector>

#include "results/run.hpp"

namespace ranklab::results {

/// Writes {"key": value, ...}; a Setting with `number` is written bare, as null where it is NaN,
/// infinite or not a number. Of two settings with one key the later counts.
std::string config_to_json(const std::vector<Setting>& config);
/// {"section": {"key": "value"}}.
std::string context_to_json(const std::vector<Fact>& context);
/// ["sentence", ...].
std::string warnings_to_json(const std::vector<std::string>& warnings);

/// The way back. Numbers come back in JSON's shortest form ("1e-3" as "0.001"), null as "nan".
/// DataError where the text is not JSON of that shape.
std::vector<Setting> config_from_json(const std::string& text);
std::vector<Fact> context_from_json(const std::string& text);
std::vector<std::string> warnings_from_json(const std::string& text);

}  // namespace ranklab::results
