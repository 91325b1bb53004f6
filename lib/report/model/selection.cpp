#include "report/model/selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/error.hpp"
#include "base/numbers.hpp"
#include "base/text.hpp"
#include "report/model/values.hpp"

namespace ranklab::report::model {
namespace {

bool equal(const std::string& actual, const std::string& wanted) {
    if (!wanted.empty() && wanted.back() == '*')
        return actual.compare(0, wanted.size() - 1, wanted, 0, wanted.size() - 1) == 0;
    if (actual == wanted) return true;
    const auto a = base::number_in(actual);
    const auto b = base::number_in(wanted);
    return a && b && *a == *b;
}

bool ordered(const std::string& actual, const std::string& relation, const std::string& wanted) {
    const auto a = base::number_in(actual);
    const auto b = base::number_in(wanted);
    if (!a || !b) return false;
    if (relation == "<") return *a < *b;
    if (relation == "<=") return *a <= *b;
    return relation == ">" ? *a > *b : *a >= *b;
}

std::optional<std::string> field_of(const results::Run& run, const std::string& key) {
    if (key == "id") return run.id;
    if (key == "command") return run.command;
    if (key == "label") return run.label;
    if (key == "version") return run.version;
    if (key == "git_revision") return run.git_revision;
    if (key == "exit_code") return fmt::format("{}", run.exit_code);
    if (key == "valid") return run.valid ? "1" : "0";
    if (key == "nodes") return fmt::format("{}", node_count(run));
    if (key == "ranks") return fmt::format("{}", run.hosts.size());
    return std::nullopt;
}

}  // namespace

std::string value_of(const results::Run& run, const std::string& key) {
    const auto setting = std::ranges::find_if(run.config, [&](const auto& one) { return one.key == key; });
    if (setting != run.config.end()) return setting->value;
    if (const auto field = field_of(run, key)) return *field;
    const auto fact = std::ranges::find_if(
        run.context, [&](const auto& one) { return one.section + "." + one.key == key; });
    return fact == run.context.end() ? "" : fact->value;
}

Selection::Selection(const std::vector<std::string>& conditions) {
    for (const auto& text : conditions) conditions_.push_back(parse(text));
}

Selection::Condition Selection::parse(const std::string& text) {
    // Longer ones first: "<=" is no "<" of a value that begins with '='.
    constexpr std::array kRelations{"!=", "<=", ">=", "<", ">", "="};
    const std::size_t place = text.find_first_of("!<>=");
    if (place != std::string::npos && place > 0) {
        for (const std::string relation : kRelations) {
            if (text.compare(place, relation.size(), relation) == 0)
                return {text.substr(0, place), relation,
                        base::split(text.substr(place + relation.size()), ',')};
        }
    }
    throw base::OptionError(fmt::format(
        "'{}' is no condition; give KEY=VALUE, as in model=mnist-cnn, or KEY!=VALUE, KEY>=NUMBER", text));
}

bool Selection::holds(const Condition& condition, const std::string& actual) {
    const auto& [key, relation, values] = condition;
    const auto is = [&](const std::string& wanted) {
        return relation == "=" || relation == "!=" ? equal(actual, wanted)
                                                   : ordered(actual, relation, wanted);
    };
    const bool any = std::ranges::any_of(values, is);
    return relation == "!=" ? !any : any;
}

bool Selection::matches(const results::Run& run) const {
    return std::ranges::all_of(conditions_, [&](const Condition& condition) {
        return holds(condition, value_of(run, condition.key));
    });
}

}  // namespace ranklab::report::model
