#include "app/run_header.hpp"

#include <algorithm>
#include <cstdio>
#include <set>

#include "app/context.hpp"
#include "app/job_start.hpp"
#include "app/printing.hpp"
#include "app/version.hpp"

namespace ranklab::app {
namespace {

// Of all but those that are shown already.
std::vector<results::Setting> others_than(const std::vector<results::Setting>& shown,
                                          std::vector<results::Setting> settings) {
    std::erase_if(settings, [&](const auto& setting) {
        return std::ranges::any_of(
            shown, [&](const auto& one) { return one.key == setting.key && one.value == setting.value; });
    });
    return settings;
}

// How ranks work together says nothing of one rank.
bool belongs(const options::Options::Effective& option, std::size_t ranks) {
    return option.in_header && (ranks > 1 || option.role != options::Role::together);
}

std::set<std::string> names_asked(const options::Options& asked) {
    std::set<std::string> names;
    for (const auto& option : asked.effective())
        if (option.asked) names.insert(option.name);
    return names;
}

}  // namespace

void print_whole_header(const Job& job, const Launch& launch, std::vector<results::Setting>& shown) {
    auto settings = settings_of(job.options);
    const auto facts = job.plan->facts();
    settings.insert(settings.end(), facts.begin(), facts.end());
    if (shown.empty()) {
        print("# {}\n{}", version_line(), placement_header(launch.placements));
        shown = settings;
        print_settings(settings);
    } else {
        print("# and:\n");
        print_settings(others_than(shown, settings));
    }
    std::fflush(stdout);
}

void print_short_header(const Job& job, const options::Options& asked, const options::Options& settled,
                        const Launch& launch) {
    const auto names = names_asked(asked);
    std::vector<results::Setting> settings;
    for (const auto& option : settled.effective()) {
        if (option.role == options::Role::request) continue;
        if (names.contains(option.name) || belongs(option, launch.placements.size()))
            settings.push_back({option.name, option.value, false});
    }
    const auto facts = job.plan == nullptr ? std::vector<results::Setting>() : job.plan->facts();
    for (const auto& fact : facts)
        if (fact.key == "note") settings.push_back(fact);
    print("# {}\n{}", version_line(), placement_line(launch.placements));
    print_settings(settings);
    print("# all other settings: --verbose\n");
    std::fflush(stdout);
}

}  // namespace ranklab::app
