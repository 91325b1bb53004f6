#include "report/formats/ablation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <vector>

#include "report/model/text_table.hpp"

namespace ranklab::report::formats {
namespace {

std::string upper(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return text;
}

std::string limit(const results::Run& run) {
    for (const auto& fact : run.context) {
        if (fact.section == "training" && fact.key == "limit")
            return fmt::format("  {}\n\n", model::printable(fact.value));
    }
    return "";
}

}  // namespace

std::string ablation_lines(const results::Run& run) {
    const results::Table* table = run.find_table("ablation");
    if (table == nullptr) return "";
    const auto* names = table->find<std::string>("trial");
    const auto* means = table->find<double>("mean_samples_per_s");
    const auto* deviations = table->find<double>("std_samples_per_s");
    if (names == nullptr || means == nullptr || deviations == nullptr) return "";
    std::string text;
    for (std::size_t i = 0; i < std::min({names->size(), means->size(), deviations->size()}); ++i) {
        text += fmt::format("BENCHY::SUMMARY::{} average trial throughput: {:.3f} +/- {:.3f}\n",
                            upper(model::printable((*names)[i])), (*means)[i], (*deviations)[i]);
    }
    return text + limit(run);
}

}  // namespace ranklab::report::formats
