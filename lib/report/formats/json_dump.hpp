// Private to this room: JSON text that every reader takes.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace ranklab::report::formats {

using Json = nlohmann::ordered_json;

/// One line. Numbers that are none become null, bytes that are no UTF-8 U+FFFD.
inline std::string json_line(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace ranklab::report::formats
