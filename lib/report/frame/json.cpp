#include <nlohmann/json.hpp>

#include "report/frame/write.hpp"

namespace ranklab::report {

std::string json_line(const nlohmann::ordered_json& json) {
    return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace ranklab::report
