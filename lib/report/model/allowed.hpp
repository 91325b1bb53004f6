// What the user said may differ (--allow).
#pragma once

#include <set>
#include <string>
#include <vector>

namespace ranklab::report::model {

/// Whether the user said that this key may differ: by its name, the part after its section's dot, "host" for
/// hosts, or a beginning with '*'.
bool is_allowed(const std::string& key, const std::vector<std::string>& allow);

/// OptionError where a word allows none of these keys, with the nearest of them and what there is. So that a
/// slip does not pass for a permission.
void refuse_unknown_allowed(const std::vector<std::string>& allow, const std::set<std::string>& keys);

}  // namespace ranklab::report::model
