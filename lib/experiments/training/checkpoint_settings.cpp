#include "experiments/training/checkpoint_settings.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "results/vocabulary/settings.hpp"

namespace ranklab::experiments {
namespace {

// "0.10" and "1e-1" are one number.
std::string value_of(const options::Options& options, const options::Options::Effective& option) {
    return option.type == options::Type::real ? fmt::format("{}", options.real(option.name)) : option.value;
}

// "--name" as a run that lacks it had it: it was made before there was the option.
bool is_as_before(const std::string& name, const std::string& value, const CheckpointSettings& stored) {
    const auto other = [&stored](const std::string& key) {
        const auto* there = find_setting(stored, "--" + key);
        return there == nullptr ? std::string() : *there;
    };
    return !value.empty() && name.starts_with("--") &&
           vocabulary::value_when_absent(name.substr(2), other) == value;
}

std::string shown(const std::string* value) {
    return value == nullptr ? "unset" : base::printable(*value, 80);
}

}  // namespace

CheckpointSettings settings_of_numbers(const options::Options& options, CheckpointSettings facts) {
    CheckpointSettings settings;
    for (const auto& option : options.effective()) {
        if (vocabulary::decides_numbers(option.name))
            settings.emplace_back("--" + option.name, value_of(options, option));
    }
    settings.insert(settings.end(), facts.begin(), facts.end());
    return settings;
}

void check_same_settings(const CheckpointSettings& now, const CheckpointSettings& stored) {
    std::vector<std::string> differences;
    const auto note = [&](const std::string& name, const std::string* here, const std::string* there) {
        differences.push_back(
            fmt::format("{} {} (now {})", base::printable(name, 80), shown(there), shown(here)));
    };
    for (const auto& [name, value] : now) {
        const std::string* there = find_setting(stored, name);
        if (there == nullptr ? !is_as_before(name, value, stored) : *there != value)
            note(name, &value, there);
    }
    for (const auto& [name, value] : stored) {
        if (find_setting(now, name) == nullptr) note(name, nullptr, &value);
    }
    if (differences.empty()) return;
    throw base::OptionError(fmt::format(
        "the checkpoint was made with {}; give the same, or name another folder with --checkpoint",
        fmt::join(differences, ", ")));
}

}  // namespace ranklab::experiments
