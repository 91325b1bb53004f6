// A run's configuration, context and warnings as JSON, as the results file stores them. Bytes that
// are not UTF-8 become U+FFFD.
#pragma once

#include <string>
#include <vector>

#include "results/run.hpp"

namespace ranklab::results {

/// {"key": value}. A Setting::number is written without quotes, or as null if it is NaN, infinite
/// or no number. The later of two settings with the same key counts.
std::string config_to_json(const std::vector<Setting>& config);
/// {"section": {"key": "value"}}.
std::string context_to_json(const std::vector<Fact>& context);
/// ["sentence", ...].
std::string warnings_to_json(const std::vector<std::string>& warnings);

/// Read the texts above. Numbers come back in JSON's shortest form ("1e-3" as "0.001"), null as
/// "nan". Throw DataError for other JSON.
std::vector<Setting> config_from_json(const std::string& text);
std::vector<Fact> context_from_json(const std::string& text);
std::vector<std::string> warnings_from_json(const std::string& text);

}  // namespace ranklab::results
