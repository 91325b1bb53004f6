#include "experiments/training/checkpoint_settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/error.hpp"
#include "base/text.hpp"

namespace ranklab::experiments {
namespace {

// Not in it: what may change at a break without changing the numbers' meaning (lengths of the run, files,
// labels, threads, backend). A name that the program does not have is skipped.
constexpr auto kOptions = std::to_array<std::string_view>({"model",
                                                           "width",
                                                           "full-scale",
                                                           "lambda-rho",
                                                           "data",
                                                           "input",
                                                           "image-size",
                                                           "crop-edge",
                                                           "rotate",
                                                           "rotate-vectors",
                                                           "train-samples",
                                                           "precision",
                                                           "device",
                                                           "mode",
                                                           "sync",
                                                           "replicas",
                                                           "accumulate",
                                                           "sharding",
                                                           "shuffle",
                                                           "dropout",
                                                           "seed",
                                                           "optimizer",
                                                           "lr",
                                                           "lr-schedule",
                                                           "gamma",
                                                           "momentum",
                                                           "global-batch-size",
                                                           "compress",
                                                           "no-broadcast-buffers",
                                                           "lr-scaling",
                                                           "base-batch-size",
                                                           "lr-warmup-steps",
                                                           "end-lr",
                                                           "lr-total-steps",
                                                           "fused-optimizer",
                                                           "channels-last",
                                                           "jit",
                                                           "cuda-graph"});

// "0.10" and "1e-1" are one number.
std::string value_of(const options::Options& options, const options::Options::Effective& option) {
    return option.type == options::Type::real ? fmt::format("{}", options.real(option.name)) : option.value;
}

const std::string* find(const CheckpointSettings& settings, const std::string& name) {
    for (const auto& setting : settings) {
        if (setting.first == name) return &setting.second;
    }
    return nullptr;
}

std::string shown(const std::string* value) {
    return value == nullptr ? "unset" : base::printable(*value, 80);
}

}  // namespace

CheckpointSettings settings_of_numbers(const options::Options& options, CheckpointSettings facts) {
    CheckpointSettings settings;
    for (const auto& option : options.effective()) {
        if (std::find(kOptions.begin(), kOptions.end(), option.name) != kOptions.end())
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
        const std::string* there = find(stored, name);
        if (there == nullptr || *there != value) note(name, &value, there);
    }
    for (const auto& [name, value] : stored) {
        if (find(now, name) == nullptr) note(name, nullptr, &value);
    }
    if (differences.empty()) return;
    throw base::OptionError(fmt::format(
        "the checkpoint was made with {}; give the same, or name another folder with --checkpoint",
        fmt::join(differences, ", ")));
}

}  // namespace ranklab::experiments
