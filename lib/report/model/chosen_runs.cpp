#include "report/model/chosen_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "base/numbers.hpp"
#include "base/terminal.hpp"
#include "base/text.hpp"
#include "report/model/groups.hpp"
#include "report/model/ladder.hpp"
#include "report/model/values.hpp"

namespace ranklab::report::model {
namespace {

using results::Detail;
using results::Run;

constexpr std::size_t kMostValues = 8;  // of a key, listed if no run meets the conditions

bool is_order(std::string_view relation) {
    return relation == "<" || relation == "<=" || relation == ">" || relation == ">=";
}

bool equal(const std::string& actual, const std::string& wanted) {
    if (wanted.ends_with('*')) return actual.starts_with(wanted.substr(0, wanted.size() - 1));
    const auto a = base::number_in(actual), b = base::number_in(wanted);
    return actual == wanted || (a && b && *a == *b);
}

bool stands(const std::string& actual, std::string_view relation, const std::string& wanted) {
    if (!is_order(relation)) return equal(actual, wanted);
    const auto a = base::number_in(actual), b = base::number_in(wanted);
    return a && b &&
           ((relation.front() == '<' ? *a < *b : *a > *b) || (relation.ends_with('=') && *a == *b));
}

bool is_number(const std::string& text) {
    return !std::isnan(base::number_in(text).value_or(NAN));
}

// "train mnist-cnn ddp", "io text-loop and 9 more", "comm allreduce and 7 more fp32".
std::string work_of(const results::Run& run) {
    std::string text = run.command;
    for (const auto key : {setting::kFromModel, setting::kModel, setting::kStrategy, setting::kMode,
                           setting::kOp, setting::kDatatype})
        if (const std::string names = run.setting(key); !names.empty())
            text += ' ' + some_of(base::split(names, ','), 1);
    return text;
}

std::string width_of(const results::Run& run) {
    if (run.hosts.empty()) return "";
    if (const auto workers = workers_of(run); workers > 0)
        return " by " + counted(workers, "worker");
    const std::string threads = run.setting(setting::kThreads);
    return fmt::format(" on {}{}", value_of(run, "ranks"), threads.empty() ? "" : " x " + threads);
}

std::string rate_of(const results::Run& run) {
    if (run.command == "comm" && run.hosts.size() < 2) return "";  // nothing was sent
    for (const auto& name : vocabulary::shown_at(vocabulary::Shown::summary, run.command)) {
        const auto* const found = run.find(name);
        if (found != nullptr && found->kind == results::Kind::rate && found->summary.n > 0)
            return readable(found->summary.median, found->unit);
    }
    return "";
}

}  // namespace

Selection::Selection(const std::vector<std::string>& conditions) {
    for (const auto& text : conditions) keys_.push_back(conditions_.emplace_back(parse(text)).key);
}

Selection::Condition Selection::parse(const std::string& text) {
    const std::size_t begin = std::min(text.find_first_of("!<>=~"), text.size());
    const std::size_t end = std::min(text.find_first_not_of("!<>=~", begin), text.size());
    const std::string relation = text.substr(begin, end - begin);
    auto values = base::split(text.substr(end), ',');
    const bool orders = is_order(relation) && std::ranges::all_of(values, is_number);
    if (begin == 0 || (relation != "=" && relation != "!=" && !orders))
        throw base::OptionError(fmt::format(
            "'{}' is not a condition; give KEY=VALUE, as in model=mnist-cnn, or KEY!=VALUE, "
            "KEY>=NUMBER",
            base::printable(text, 80)));
    if (orders && values.size() > 1)
        throw base::OptionError(
            fmt::format(
                "'{}' has a list after {}, which takes one number; write thousands without commas",
                base::printable(text, 80), relation),
            {"where"});
    return {text.substr(0, begin), relation, std::move(values)};
}

bool Selection::matches(const Run& run) const {
    return std::ranges::all_of(conditions_, [&](const Condition& condition) {
        const std::string actual = value_of(run, condition.key);
        const bool any = std::ranges::any_of(condition.values, [&](const std::string& wanted) {
            return stands(actual, condition.relation, wanted);
        });
        return any != (condition.relation == "!=");
    });
}

ChosenRuns::ChosenRuns(results::ResultFile file, Choice choice)
    : file_(std::move(file)), choice_(std::move(choice)), selection_(choice_.conditions) {
    const bool others = choice_.label || !choice_.conditions.empty() || choice_.last > 0;
    if (!choice_.id.empty() && others)
        throw base::OptionError(
            "a run id chooses one run and excludes other choices; leave out one of them",
            {"run", "where", "label", "last"});
    refuse_unknown_keys(selection_.keys(), file_);
    if (!choice_.id.empty()) named_ = {file_.read(choice_.id, Detail::settings)};
    if (choice_.last == 0) return;
    named_ = headers();
    const std::size_t most = std::min(choice_.last, named_->size());
    named_->erase(named_->begin(), named_->end() - static_cast<std::ptrdiff_t>(most));
}

bool ChosenRuns::everything() const {
    return !named_ && !choice_.label && selection_.everything();
}

bool ChosenRuns::matches(const Run& run) const {
    return (!choice_.label || run.label == *choice_.label) && selection_.matches(run);
}

void ChosenRuns::visit(Detail detail, const std::function<void(Run&&)>& take,
                       const std::function<bool(const Run&)>& wanted) const {
    if (everything()) return file_.visit(detail, wanted, take);
    const auto is_wanted = [&](const Run& run) { return !wanted || wanted(run); };
    if (!named_)
        return file_.visit(
            detail, [&](const Run& run) { return matches(run) && is_wanted(run); }, take);
    for (const auto& header : *named_)
        if (Run run = file_.read(header.id, detail); is_wanted(run)) take(std::move(run));
}

std::vector<results::RunHeader> ChosenRuns::headers() const {
    if (named_) return *named_;
    std::vector<results::RunHeader> headers;
    if (!selection_.everything()) {
        visit(Detail::settings, [&](Run&& run) { headers.push_back(run); });
        return headers;
    }
    headers = file_.runs();
    std::erase_if(headers,
                  [&](const auto& one) { return choice_.label && one.label != *choice_.label; });
    return headers;
}

// "; model is a or b there": the values of each key in the conditions, over all runs of the file.
std::string ChosenRuns::values_there() const {
    std::map<std::string, std::set<std::string>> there;
    file_.visit(Detail::settings, nullptr, [&](const Run& run) {
        for (const auto& key : selection_.keys()) there[key].insert(value_of(run, key));
        if (choice_.label) there["label"].insert(run.label);
    });
    std::string text;
    for (auto& [key, values] : there) {
        values.erase("");
        text += values.empty() ? fmt::format("; none has {}", key)
                               : fmt::format("; {} is {} there", key,
                                             some_of(values, kMostValues, " or ", 40));
    }
    return text;
}

std::string ChosenRuns::nothing() const {
    const std::string file = file_.path().string();
    if (everything())
        return fmt::format("{} holds no runs yet; ranklab train, io and comm store some\n", file);
    return fmt::format("{} holds no run of {}{}\n", file, base::one_line(text()), values_there());
}

std::string ChosenRuns::text() const {
    std::vector<std::string> parts = choice_.conditions;
    if (!choice_.id.empty()) parts.push_back("run " + choice_.id);
    if (choice_.label) parts.push_back(fmt::format("label '{}'", *choice_.label));
    if (choice_.last > 0) parts.push_back(fmt::format("the last {}", choice_.last));
    return base::join(parts, ", ");
}

Frame list_runs(const results::ResultFile& file, const std::vector<results::RunHeader>& headers,
                std::size_t most) {
    Frame frame{.columns = columns_of("run* | what | rate | label")};
    for (std::size_t i = headers.size() - std::min(most, headers.size()); i < headers.size(); ++i) {
        const auto& header = headers[i];
        std::string what = header.command + ", damaged", rate;
        std::vector<Caveat> caveats;
        try {
            const results::Run run = file.read(header.id, results::Detail::measurements);
            what = work_of(run) + width_of(run);
            rate = run.valid ? rate_of(run) : fmt::format("INVALID ({})", run.exit_code);
            caveats = caveats_of(run);
            std::erase_if(caveats, [](const Caveat& one) {
                return one.kind == CaveatKind::single_run || one.kind == CaveatKind::cut_short;
            });
            if (const auto cut = run.cut_short(); !cut.empty())
                caveats.push_back({CaveatKind::cut_short, cut});
        } catch (const base::DataError&) {  // its header alone
        }
        frame.rows.push_back(
            {{header.id, base::shortened(what, 28), rate, base::shortened(header.label, 40)},
             caveats});
    }
    frame.drop_empty_columns();
    return frame;
}

}  // namespace ranklab::report::model
