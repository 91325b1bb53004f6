#include "report/model/allowed.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/text.hpp"
#include "report/model/surroundings.hpp"
#include "results/vocabulary/facts.hpp"

namespace ranklab::report::model {
namespace {

// "cpu" of "host.cpu".
std::string short_name(const std::string& key) {
    return key.substr(key.find('.') + 1);  // the whole where there is no dot
}

std::string listed(const std::set<std::string>& keys) {
    constexpr std::size_t kMost = 50;
    std::vector<std::string> shown;
    for (const auto& key : keys)
        if (shown.size() < kMost) shown.push_back(base::printable(key, 60));
    return base::join(shown, ", ") +
           (keys.size() > kMost ? fmt::format(" and {} more", keys.size() - kMost) : "");
}

[[noreturn]] void refuse(const std::string& word, const std::set<std::string>& keys) {
    std::vector<std::string> names(keys.begin(), keys.end());
    for (const auto& key : keys) names.push_back(short_name(key));
    const auto near = base::nearest(word, names);
    throw base::OptionError(fmt::format(
        "--allow {}: these runs have nothing of that name that could differ{}; they have {}",
        base::printable(word, 60), near ? fmt::format(" (did you mean {}?)", base::printable(*near, 60)) : "",
        listed(keys)));
}

}  // namespace

bool is_allowed(const std::string& key, const std::vector<std::string>& allow) {
    return std::any_of(allow.begin(), allow.end(), [&](const std::string& word) {
        return vocabulary::fits(key, word) || short_name(key) == word || (word == "host" && key == "hosts");
    });
}

void refuse_unknown_allowed(const std::vector<std::string>& allow, const std::set<std::string>& keys) {
    for (const auto& word : allow) {
        const bool known = std::any_of(keys.begin(), keys.end(),
                                       [&](const std::string& key) { return is_allowed(key, {word}); });
        if (!known) refuse(word, keys);
    }
}

}  // namespace ranklab::report::model
