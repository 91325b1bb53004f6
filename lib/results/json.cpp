#include "results/json.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <unordered_map>

#include "base/error.hpp"

namespace ranklab::results {
namespace {

using Json = nlohmann::ordered_json;

std::string dump(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// A reader takes so much and no more (read_json); no text that says something is longer.
std::string shortened(const std::string& text) {
    constexpr std::size_t kMost = std::size_t{256} << 10U;
    return text.size() <= kMost ? text : text.substr(0, kMost) + "...";
}

// JSON's grammar decides what is a number: "nan", "inf", "0x10" and "" are none.
Json number_or_null(const std::string& text) {
    if (text.find_first_not_of("0123456789+-.eE") != std::string::npos) return nullptr;
    Json number = Json::parse(text, nullptr, false);
    return number.is_number() ? number : Json(nullptr);
}

std::string text_of(const nlohmann::json& value) {
    return value.is_string() ? value.get<std::string>() : dump(value);
}

// Hands over each value, which is no list and no object, with the keys that lead to it, in the order of the
// text. DataError, which calls the text `what`, where that is no JSON of objects so `deep` in one another (0:
// a list), or larger than anything ranklab writes: somebody may have put any size and depth there. So nothing
// of it is kept.
template <class Take>
void read_json(const std::string& text, const char* what, int deep, Take take) {
    using Event = nlohmann::json::parse_event_t;
    constexpr std::size_t kMostBytes = std::size_t{64} << 20U;
    constexpr std::size_t kMostValues = 100000;  // a run has a few hundred
    const auto require = [&](bool good) {
        if (!good) throw base::DataError(fmt::format("{} is not the JSON that the schema asks for", what));
    };
    std::vector<std::string> keys(static_cast<std::size_t>(deep));
    std::size_t met = 0;
    const auto look = [&](int depth, Event event, const nlohmann::json& found) {
        if (event == Event::object_start) require(depth < deep && ++met <= kMostValues);
        if (event == Event::array_start) require(deep == 0 && depth == 0);
        if (event == Event::key) keys[static_cast<std::size_t>(depth - 1)] = found.get<std::string>();
        // The parser looks through what it keeps at each object's end: it is to keep none.
        if (event != Event::value) return event != Event::object_end;
        require(depth == std::max(deep, 1) && ++met <= kMostValues);
        take(keys, found);
        return false;
    };
    require(text.size() <= kMostBytes && !nlohmann::json::parse(text, look, false).is_discarded());
}

}  // namespace

std::string config_to_json(const std::vector<Setting>& config) {
    Json json = Json::object();
    for (const auto& [key, value, number] : config)
        json[key] = number ? number_or_null(value) : Json(shortened(value));
    return dump(json);
}

std::string context_to_json(const std::vector<Fact>& context) {
    Json json = Json::object();
    for (const auto& [section, key, value] : context) json[section][key] = shortened(value);
    return dump(json);
}

std::string warnings_to_json(const std::vector<std::string>& warnings) {
    Json json = Json::array();
    for (const auto& warning : warnings) json.push_back(shortened(warning));
    return dump(json);
}

std::vector<Setting> config_from_json(const std::string& text) {
    std::vector<Setting> config;
    std::unordered_map<std::string, std::size_t> places;  // of two values with one key the later counts
    read_json(text, "config_json", 1, [&](const auto& keys, const auto& value) {
        const auto [place, fresh] = places.emplace(keys[0], config.size());
        if (fresh) config.emplace_back();
        config[place->second] = value.is_null() ? Setting{keys[0], "nan", true}
                                                : Setting{keys[0], text_of(value), value.is_number()};
    });
    return config;
}

std::vector<Fact> context_from_json(const std::string& text) {
    std::vector<Fact> context;
    read_json(text, "context_json", 2, [&](const auto& keys, const auto& value) {
        context.push_back({keys[0], keys[1], text_of(value)});
    });
    return context;
}

std::vector<std::string> warnings_from_json(const std::string& text) {
    std::vector<std::string> warnings;
    read_json(text, "warnings_json", 0,
              [&](const auto&, const auto& value) { warnings.push_back(text_of(value)); });
    return warnings;
}

}  // namespace ranklab::results
