#include "results/json.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/error.hpp"

namespace ranklab::results {
namespace {

using Json = nlohmann::ordered_json;

std::string dump(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// JSON's grammar decides what is a number: "nan", "inf", "0x10" and "" are none.
Json number_or_null(const std::string& text) {
    Json number = Json::parse(text, nullptr, false);
    return number.is_number() ? number : Json(nullptr);
}

Json parse(const std::string& text, Json::value_t wanted, const char* what) {
    Json json = Json::parse(text, nullptr, false);
    if (json.type() != wanted)
        throw base::DataError(fmt::format("{} is not the JSON that the schema asks for", what));
    return json;
}

std::string text_of(const Json& value) {
    return value.is_string() ? value.get<std::string>() : dump(value);
}

Setting to_setting(const std::string& key, const Json& value) {
    if (value.is_null()) return {key, "nan", true};
    return {key, text_of(value), value.is_number()};
}

}  // namespace

std::string config_to_json(const std::vector<Setting>& config) {
    Json json = Json::object();
    for (const auto& [key, value, number] : config) json[key] = number ? number_or_null(value) : Json(value);
    return dump(json);
}

std::string context_to_json(const std::vector<Fact>& context) {
    Json json = Json::object();
    for (const auto& [section, key, value] : context) json[section][key] = value;
    return dump(json);
}

std::string warnings_to_json(const std::vector<std::string>& warnings) {
    return dump(Json(warnings));
}

std::vector<Setting> config_from_json(const std::string& text) {
    std::vector<Setting> config;
    const Json json = parse(text, Json::value_t::object, "config_json");
    for (const auto& [key, value] : json.items()) config.push_back(to_setting(key, value));
    return config;
}

std::vector<Fact> context_from_json(const std::string& text) {
    std::vector<Fact> context;
    const Json json = parse(text, Json::value_t::object, "context_json");
    for (const auto& [section, facts] : json.items()) {
        if (!facts.is_object())
            throw base::DataError(fmt::format("section '{}' of context_json is no object", section));
        for (const auto& [key, value] : facts.items()) context.push_back({section, key, text_of(value)});
    }
    return context;
}

std::vector<std::string> warnings_from_json(const std::string& text) {
    std::vector<std::string> warnings;
    for (const auto& warning : parse(text, Json::value_t::array, "warnings_json"))
        warnings.push_back(text_of(warning));
    return warnings;
}

}  // namespace ranklab::results
