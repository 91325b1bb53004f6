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

// A flag that a run lacks was not given.
bool is_flag_not_given(const std::string& value) {
    return value == "false";
}

// "--name" as a run that lacks it had it: it was made before there was the option.
bool is_as_before(const std::string& name, const std::string& value, const CheckpointSettings& stored) {
    const auto other = [&stored](const std::string& key) {
        const auto* there = find_setting(stored, "--" + key);
        return there == nullptr ? std::string() : *there;
    };
    return is_flag_not_given(value) || (!value.empty() && name.starts_with("--") &&
                                        vocabulary::value_when_absent(name.substr(2), other) == value);
}

// As the command line has it: "--lr 0.1 (now 0.2)", "no --jit (now given)".
std::string difference(const std::string& name, const std::string* here, const std::string* there) {
    const auto is = [](const std::string* value, const char* what) {
        return value != nullptr && *value == what;
    };
    const auto is_flag = [&](const std::string* value) { return is(value, "true") || is(value, "false"); };
    const auto no_or = [](const std::string* value, const char* none) {
        return value == nullptr ? none : base::printable(*value, 80);
    };
    if (name == "--channels-last")
        return fmt::format("--memory-format {} (now {})", is(there, "true") ? "channels-last" : "contiguous",
                           is(here, "true") ? "channels-last" : "contiguous");
    const std::string known = base::printable(name, 80);
    if (is_flag(there) || is_flag(here))
        return is(there, "true") ? known + " (now not given)" : fmt::format("no {} (now given)", known);
    if (there == nullptr) return fmt::format("no {} (now {})", known, no_or(here, "none"));
    return fmt::format("{} {} (now {})", known, no_or(there, "none"), no_or(here, "none"));
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
    for (const auto& [name, value] : now) {
        const std::string* there = find_setting(stored, name);
        if (there == nullptr ? !is_as_before(name, value, stored) : *there != value)
            differences.push_back(difference(name, &value, there));
    }
    for (const auto& [name, value] : stored) {
        if (find_setting(now, name) == nullptr && !is_flag_not_given(value))
            differences.push_back(difference(name, nullptr, &value));
    }
    if (differences.empty()) return;
    throw base::OptionError(fmt::format(
        "the run of the checkpoint had {}; give the same, or name another folder with --checkpoint",
        fmt::join(differences, ", ")));
}

}  // namespace ranklab::experiments
