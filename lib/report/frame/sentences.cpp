#include "report/frame/sentences.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "report/frame/templates.hpp"

namespace ranklab::report {
namespace {

const std::vector<std::string>& words_of(const std::string& kind, auto key) {
    return sentence_row(kind, static_cast<std::size_t>(key));
}

std::string interval_of(const stats::Interval& ci) {
    return std::isfinite(ci.low) ? fmt::format(" (95 % interval {:.2f} .. {:.2f})", ci.low, ci.high)
                                 : "";
}

}  // namespace

const std::vector<std::string>& sentence_row(const std::string& kind, std::size_t key) {
    static const auto rows = [] {
        std::map<std::string, std::vector<std::vector<std::string>>> all;
        for (const auto& line : base::split(frame::template_text("sentences.txt"), '\n'))
            if (auto cells = base::split(line, '|'); cells.size() > 1)
                all[cells.front()].push_back(std::move(cells));
        return all;
    }();
    return rows.at(kind).at(key);
}

std::string sentence(const Caveat& caveat) {
    return fmt::format(fmt::runtime(words_of("caveat", caveat.kind)[2]), caveat.what);
}

std::string sentence(const Finding& finding) {
    return fmt::format(
        fmt::runtime(words_of("verdict", finding.verdict)[2]), fmt::arg("subject", finding.subject),
        fmt::arg("against", finding.against), fmt::arg("value", finding.value),
        fmt::arg("ratio", fmt::format("{:.2f}", finding.ratio.ratio)),
        fmt::arg("interval", interval_of(finding.ratio.ci)),
        fmt::arg("alike", some_of(finding.alike, 3, "; ")), fmt::arg("unit", finding.unit));
}

std::string name_of(Verdict verdict) {
    return words_of("verdict", verdict)[1];
}

std::string sentence(const Refusal& refusal) {
    return fmt::format(fmt::runtime(words_of("refusal", refusal.why)[2]), refusal.command);
}

std::string name_of(Refusal::Why why) {
    return words_of("refusal", why)[1];
}

// The fourth cell of a caveat's row follows "1 group"; "has" becomes "have".
std::string of_groups(CaveatKind kind, std::size_t groups) {
    const std::string words = words_of("caveat", kind)[3];
    return groups == 1                ? words
           : words.starts_with("was") ? "were" + words.substr(3)
                                      : "have" + words.substr(3);
}

std::string Footnotes::references(const std::vector<Caveat>& caveats) {
    std::vector<std::string> numbers;
    for (const auto& caveat : caveats) {
        auto place = std::ranges::find(met_, caveat);
        if (place == met_.end()) place = met_.insert(met_.end(), caveat);
        numbers.push_back(fmt::to_string(place - met_.begin() + 1));
    }
    return base::join(numbers, " ");
}

std::vector<std::string> Footnotes::lines(const std::vector<std::string>& notes) const {
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < met_.size(); ++i)
        lines.push_back(fmt::format("{}: {}", i + 1, sentence(met_[i])));
    lines.insert(lines.end(), notes.begin(), notes.end());
    return lines;
}

}  // namespace ranklab::report
