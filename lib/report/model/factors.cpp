#include "report/model/factors.hpp"

#include <fmt/format.h>

#include "report/model/surroundings.hpp"
#include "results/vocabulary/settings.hpp"

namespace ranklab::report::model {

void Factors::add_value(const std::string& key, const std::string& value) {
    auto [place, fresh] = seen_.try_emplace(key, Seen{value, 0, false});
    ++place->second.times;
    if (!fresh && place->second.value != value) place->second.differs = true;
}

void Factors::add(const results::Run& run) {
    ++runs_;
    for (const auto& setting : run.config)
        if (vocabulary::matters_to(vocabulary::Asker::factor, setting.key, setting.value))
            add_value(setting.key, setting.value);
    for (const auto& fact : run.context) {
        const std::string key = fmt::format("{}.{}", fact.section, fact.key);
        if (is_decisive_fact(key, fact.value)) add_value(key, fact.value);
    }
    add_value("command", run.command);
    if (run.setting("ranks").empty()) add_value("ranks", fmt::format("{}", run.hosts.size()));
    add_value("version", fmt::format("{} {}", run.version, run.git_revision));
}

std::string Factors::common(const std::string& key) const {
    const auto found = seen_.find(key);
    const bool is_common = found != seen_.end() && !found->second.differs && found->second.times == runs_;
    return is_common ? found->second.value : "";
}

std::set<std::string> Factors::differing() const {
    std::set<std::string> keys;
    for (const auto& [key, seen] : seen_)
        if (seen.differs || seen.times != runs_) keys.insert(key);
    return keys;
}

}  // namespace ranklab::report::model
