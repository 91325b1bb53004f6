#include "report/chosen_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "base/text.hpp"

namespace ranklab::report {
namespace {

// So few are looked up one by one: that is cheaper than a walk through a file of thousands.
constexpr std::size_t kFew = 64;

}  // namespace

results::RunHeader header_of(const results::Run& run) {
    return {run.id, run.command, run.label, run.started_utc, run.valid, run.exit_code};
}

ChosenRuns::ChosenRuns(results::ResultFile file, Choice choice)
    : file_(std::move(file)), choice_(std::move(choice)), selection_(choice_.conditions) {
    const bool others = choice_.label || !choice_.conditions.empty() || choice_.last > 0;
    if (!choice_.id.empty() && others)
        throw base::OptionError("--run names one run; leave --where, --label and --last out, or --run");
    if (choice_.last == 0) return;
    for (const auto& header : matching_headers()) last_ids_.push_back(header.id);
    if (last_ids_.size() > choice_.last)
        last_ids_.erase(last_ids_.begin(), last_ids_.end() - static_cast<std::ptrdiff_t>(choice_.last));
}

bool ChosenRuns::everything() const {
    return choice_.id.empty() && !choice_.label && selection_.everything() && choice_.last == 0;
}

bool ChosenRuns::matches(const results::Run& run) const {
    return (!choice_.label || run.label == *choice_.label) && selection_.matches(run);
}

void ChosenRuns::visit(results::Detail detail, const std::function<void(results::Run&&)>& take) const {
    if (!choice_.id.empty()) return take(file_.read(choice_.id, detail));
    if (everything()) return file_.visit(detail, {}, take);
    if (choice_.last == 0)
        return file_.visit(
            detail, [&](const auto& run) { return matches(run); }, take);
    if (last_ids_.size() <= kFew) {
        for (const auto& id : last_ids_) take(file_.read(id, detail));
        return;
    }
    const std::set<std::string> wanted(last_ids_.begin(), last_ids_.end());
    file_.visit(
        detail, [&](const auto& run) { return wanted.count(run.id) != 0; }, take);
}

std::vector<results::RunHeader> ChosenRuns::matching_headers() const {
    std::vector<results::RunHeader> headers;
    if (!selection_.everything()) {
        file_.visit(
            results::Detail::settings, [&](const auto& run) { return matches(run); },
            [&](results::Run&& run) { headers.push_back(header_of(run)); });
        return headers;
    }
    headers = file_.runs();
    std::erase_if(headers, [&](const auto& one) { return choice_.label && one.label != *choice_.label; });
    return headers;
}

std::vector<results::RunHeader> ChosenRuns::headers() const {
    if (!choice_.id.empty()) return {header_of(file_.read(choice_.id, results::Detail::settings))};
    auto headers = matching_headers();
    if (choice_.last > 0) {
        const std::set<std::string> wanted(last_ids_.begin(), last_ids_.end());
        std::erase_if(headers, [&](const auto& one) { return wanted.count(one.id) == 0; });
    }
    return headers;
}

std::string ChosenRuns::text() const {
    std::vector<std::string> parts = choice_.conditions;
    if (!choice_.id.empty()) parts.push_back("run " + choice_.id);
    if (choice_.label) parts.push_back(fmt::format("label '{}'", *choice_.label));
    if (choice_.last > 0) parts.push_back(fmt::format("the last {}", choice_.last));
    return base::join(parts, ", ");
}

}  // namespace ranklab::report
