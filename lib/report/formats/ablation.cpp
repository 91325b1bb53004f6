#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/one_line.hpp"
#include "report/formats/parts.hpp"
#include "report/model/selection.hpp"
#include "report/model/values.hpp"

namespace ranklab::report::formats {

std::string ablation_lines(const results::Run& run) {
    const results::Table* table = run.find_table("ablation");
    if (table == nullptr) return "";
    std::string text;
    for (std::size_t row = 0; row < model::row_count(*table); ++row) {
        std::string name = base::one_line(model::text_at(*table, "trial", row));
        std::transform(name.begin(), name.end(), name.begin(),
                       [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
        text += fmt::format("BENCHY::SUMMARY::{} average trial throughput: {:.3f} +/- {:.3f}\n", name,
                            model::number_at(*table, "mean_samples_per_s", row),
                            model::number_at(*table, "std_samples_per_s", row));
    }
    const std::string limit = model::value_of(run, "training.limit");
    return limit.empty() ? text : text + fmt::format("  {}\n\n", base::one_line(limit));
}

}  // namespace ranklab::report::formats
