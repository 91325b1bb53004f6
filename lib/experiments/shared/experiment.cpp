#include "experiments/shared/experiment.hpp"

namespace ranklab::experiments {

std::vector<results::Setting> settings_of(const std::vector<options::Effective>& settled) {
    std::vector<results::Setting> settings;
    for (const auto& [row, value] : settled) {
        if (row->role == options::Role::request) continue;
        const bool number = row->type == options::Type::integer || row->type == options::Type::real;
        settings.push_back({row->name, value, number});
    }
    return settings;
}

}  // namespace ranklab::experiments
