#include "experiments/shared/experiment.hpp"

namespace ranklab::experiments {

std::vector<results::Setting> settings_of(const options::Options& options) {
    std::vector<results::Setting> settings;
    for (const auto& option : options.effective()) {
        if (option.role == options::Role::request) continue;
        const bool number =
            option.type == options::Type::integer || option.type == options::Type::real;
        settings.push_back({option.name, option.value, number});
    }
    return settings;
}

}  // namespace ranklab::experiments
