#include "report/figures/lines.hpp"

#include <algorithm>
#include <numeric>

namespace ranklab::report::figures {
namespace {

constexpr std::size_t kMostPoints = 1200;  // of a line: more than a picture has pixels

}  // namespace

std::vector<double> rows_of(const results::Run& run, std::string_view name) {
    std::vector<double> rows;
    const results::Measurement* m = run.find(name);
    if (m == nullptr || m->columns == 0) return rows;
    for (std::size_t i = 0; i + m->columns <= m->warmup.size(); i += m->columns) {
        const auto begin = m->warmup.begin() + static_cast<std::ptrdiff_t>(i);
        rows.push_back(*std::max_element(begin, begin + static_cast<std::ptrdiff_t>(m->columns)));
    }
    const auto counted = m->largest_of_rows();
    rows.insert(rows.end(), counted.begin(), counted.end());
    return rows;
}

std::vector<double> numbers_to(std::size_t last) {
    std::vector<double> numbers(last);
    std::iota(numbers.begin(), numbers.end(), 1.0);
    return numbers;
}

std::vector<ChartPoint> line_points(const std::vector<double>& x, const std::vector<double>& y) {
    std::vector<ChartPoint> points;
    const std::size_t piece = std::max<std::size_t>(1, 2 * y.size() / kMostPoints);
    for (std::size_t begin = 0; begin < y.size(); begin += piece) {
        const auto first = y.begin() + static_cast<std::ptrdiff_t>(begin);
        const auto last = y.begin() + static_cast<std::ptrdiff_t>(std::min(y.size(), begin + piece));
        const auto [low, high] = std::minmax_element(first, last);
        for (const auto one : {std::min(low, high), std::max(low, high)}) {
            const auto i = static_cast<std::size_t>(one - y.begin());
            if (points.empty() || points.back().x != x[i]) points.push_back({x[i], y[i]});
        }
    }
    return points;
}

std::vector<const model::Group*> newest_trained(const Source& source, std::size_t most,
                                                std::string_view measurement) {
    std::vector<const model::Group*> groups;
    for (const model::Group* group : model::recent_groups(source.grouped, "train", 2 * most))
        if (group->valid() && group->newest.find(measurement) != nullptr) groups.push_back(group);
    std::ranges::stable_sort(
        groups, [](const model::Group* a, const model::Group* b) { return a->last_utc > b->last_utc; });
    if (groups.size() > most) groups.resize(most);
    return groups;
}

}  // namespace ranklab::report::figures
