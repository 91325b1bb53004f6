#include "report/model/ratio.hpp"

namespace ranklab::report::model {
namespace {

// Above this many repetitions of one run the resampling would take longer than the report.
constexpr std::size_t kMostRepetitions = 20000;

}  // namespace

TimesOfBoth Ratios::of(const std::string& measurement, const RunGroup& base, const RunGroup& group) {
    const auto& reference = base.values.at(measurement).medians;
    const auto& times = group.values.at(measurement).medians;
    if (reference.size() != 1 || times.size() != 1) return {reference, times, false};
    return {repetitions(measurement, base), repetitions(measurement, group), true};
}

// The median alone where the run stored no samples, or too many.
const std::vector<double>& Ratios::repetitions(const std::string& measurement, const RunGroup& of_one) {
    const auto [place, fresh] = read_.try_emplace({of_one.runs.back(), measurement});
    if (!fresh) return place->second;
    const results::Run run = load_(of_one.runs.back());
    const results::Measurement* m = run.find(measurement);
    if (m != nullptr && m->columns > 0 && m->rows() <= kMostRepetitions) place->second = m->largest_of_rows();
    if (place->second.empty()) place->second = of_one.values.at(measurement).medians;
    return place->second;
}

}  // namespace ranklab::report::model
