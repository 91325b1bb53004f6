#include "results/run.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/error.hpp"

namespace ranklab::results {
namespace {

using Json = nlohmann::ordered_json;

std::string dump(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// A number is what JSON's grammar accepts, which excludes "nan", "inf", "0x10" and "".
Json number_or_null(const std::string& text) {
    if (text.find_first_not_of("0123456789+-.eE") != std::string::npos) return nullptr;
    Json number = Json::parse(text, nullptr, false);
    return number.is_number() ? number : Json(nullptr);
}

void require(bool good, const char* what) {
    if (!good)
        throw base::DataError(fmt::format("{} is not the JSON that the schema asks for", what));
}

std::string text_of(const Json& value, const char* what) {
    require(value.is_primitive(), what);
    return value.is_string() ? value.get<std::string>() : dump(value);
}

// Throws DataError that names the text `what`, unless the text is JSON of this kind.
Json read_json(const std::string& text, const char* what, Json::value_t kind) {
    Json json = Json::parse(text, nullptr, false);
    require(json.type() == kind, what);
    return json;
}

}  // namespace

std::string config_to_json(const std::vector<Setting>& config) {
    Json json = Json::object();
    for (const auto& [key, value, number] : config)
        json[key] = number ? number_or_null(value) : Json(value);
    return dump(json);
}

std::string context_to_json(const std::vector<Fact>& context) {
    Json json = Json::object();
    for (const auto& [section, key, value] : context) json[section][key] = value;
    return dump(json);
}

std::string warnings_to_json(const std::vector<std::string>& warnings) {
    return dump(warnings);
}

std::vector<Setting> config_from_json(const std::string& text) {
    std::vector<Setting> config;
    const Json json = read_json(text, "config_json", Json::value_t::object);
    for (const auto& [key, value] : json.items())
        config.push_back(value.is_null()
                             ? Setting{key, "nan", true}
                             : Setting{key, text_of(value, "config_json"), value.is_number()});
    return config;
}

std::vector<Fact> context_from_json(const std::string& text) {
    std::vector<Fact> context;
    const Json json = read_json(text, "context_json", Json::value_t::object);
    for (const auto& [section, facts] : json.items()) {
        require(facts.is_object(), "context_json");
        for (const auto& [key, value] : facts.items())
            context.push_back({section, key, text_of(value, "context_json")});
    }
    return context;
}

std::vector<std::string> warnings_from_json(const std::string& text) {
    std::vector<std::string> warnings;
    const Json json = read_json(text, "warnings_json", Json::value_t::array);
    for (const auto& value : json) warnings.push_back(text_of(value, "warnings_json"));
    return warnings;
}

}  // namespace ranklab::results
