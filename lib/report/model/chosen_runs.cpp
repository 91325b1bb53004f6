#include "report/model/chosen_runs.hpp"

#include <fmt/format.h>

#include <map>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"
#include "report/model/values.hpp"

namespace ranklab::report::model {
namespace {

// So few are looked up one by one: that is cheaper than a walk through a file of thousands.
constexpr std::size_t kFew = 64;

constexpr std::size_t kMostValues = 8;  // told of a key, for who misspelt one

}  // namespace

ChosenRuns::ChosenRuns(results::ResultFile file, Choice choice)
    : file_(std::move(file)), choice_(std::move(choice)), selection_(choice_.conditions) {
    const bool others = choice_.label || !choice_.conditions.empty() || choice_.last > 0;
    if (!choice_.id.empty() && others)
        throw base::OptionError("one run is named, and others are chosen too; leave out one or the other",
                                {"run", "where", "label", "last"});
    refuse_unknown_keys(selection_.keys(), {file_});
    if (choice_.last == 0) return;
    last_ = matching_headers();
    if (last_.size() > choice_.last)
        last_.erase(last_.begin(), last_.end() - static_cast<std::ptrdiff_t>(choice_.last));
}

bool ChosenRuns::everything() const {
    return choice_.id.empty() && !choice_.label && selection_.everything() && choice_.last == 0;
}

bool ChosenRuns::matches(const results::Run& run) const {
    return (!choice_.label || run.label == *choice_.label) && selection_.matches(run);
}

void ChosenRuns::visit(results::Detail detail, const std::function<void(results::Run&&)>& take,
                       const std::function<bool(const results::Run&)>& wanted) const {
    const auto hand_over = [&](results::Run&& run) {
        ++handed_over_;
        take(std::move(run));
    };
    if (!choice_.id.empty()) return hand_over(file_.read(choice_.id, detail));
    if (everything()) return file_.visit(detail, wanted, hand_over);
    std::set<std::string> last;
    for (const auto& header : last_) last.insert(header.id);
    const auto is_chosen = [&](const results::Run& run) {
        return (choice_.last > 0 ? last.contains(run.id) : matches(run)) && (!wanted || wanted(run));
    };
    if (choice_.last == 0 || last_.size() > kFew) return file_.visit(detail, is_chosen, hand_over);
    for (const auto& header : last_)
        if (results::Run run = file_.read(header.id, detail); is_chosen(run)) hand_over(std::move(run));
}

std::vector<results::RunHeader> ChosenRuns::matching_headers() const {
    std::vector<results::RunHeader> headers;
    if (!selection_.everything()) {
        file_.visit(
            results::Detail::settings, [&](const auto& run) { return matches(run); },
            [&](results::Run&& run) { headers.push_back(run); });
        return headers;
    }
    headers = file_.runs();
    std::erase_if(headers, [&](const auto& one) { return choice_.label && one.label != *choice_.label; });
    return headers;
}

std::vector<results::RunHeader> ChosenRuns::headers() const {
    if (!choice_.id.empty()) return {file_.read(choice_.id, results::Detail::settings)};
    auto headers = choice_.last > 0 ? last_ : matching_headers();
    handed_over_ += headers.size();
    return headers;
}

// Of each key that was asked to have a value, those that the file's runs have, where none is the one.
std::string ChosenRuns::values_there() const {
    std::map<std::string, std::set<std::string>> there;
    file_.visit(
        results::Detail::settings,
        [&](const results::Run& run) {
            for (const auto& key : selection_.keys()) there[key].insert(value_of(run, key));
            if (choice_.label) there["label"].insert(run.label);
            return false;
        },
        [](results::Run&&) {});
    std::string text;
    for (auto& [key, values] : there) {
        values.erase("");
        if (values.empty())
            text += fmt::format("; none has {}", key);
        else
            text += fmt::format("; {} is {} there", key, some_of(values, kMostValues, " or ", 40));
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

}  // namespace ranklab::report::model
