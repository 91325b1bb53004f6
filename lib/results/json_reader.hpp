// JSON texts of one known shape, of any size and depth that somebody may have put there: read in one pass,
// and never deeper than the shape.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace ranklab::results {

enum class JsonShape {
    values,    ///< {"key": value}
    sections,  ///< {"section": {"key": value}}
    list,      ///< [value]
};

/// Hands over each value, which is no list and no object, with the keys that lead to it (of a list none), in
/// the order of the text. DataError, which calls the text `what`, where it is no JSON of that shape, or
/// larger than anything ranklab writes.
using TakeJson =
    std::function<void(const std::vector<std::string>& keys, const nlohmann::ordered_json& value)>;
void read_json(const std::string& text, const char* what, JsonShape shape, const TakeJson& take);

}  // namespace ranklab::results
