#include "vocabulary/measurements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "vocabulary/tables.hpp"
#include "vocabulary/templates.hpp"

namespace ranklab::vocabulary {
namespace {

constexpr std::array<std::string_view, 4> kKinds{"cost", "rate", "ratio", "count"};
constexpr std::array<std::string_view, 3> kBetter{"less", "more", "neither"};
constexpr std::array<std::string_view, 3> kShown{"groups", "compare", "summary"};

Quantity quantity_of(const Entry& entry) {
    const auto& words = entry.words;
    Quantity one{.name = words.at(0),
                 .unit = words.at(1),
                 .kind = Kind(known_place(words.at(2), kKinds)),
                 .better = Better(known_place(words.at(3), kBetter)),
                 .definition = entry.text};
    for (std::size_t i = 4; i < words.size(); ++i) {
        const std::string_view word = words[i], first = word.substr(0, word.find(':')),
                               second = word.substr(first.size() + 1);
        if (const auto shown = place_of(first, kShown); shown < kShown.size())
            one.shown = Shown(shown), one.shown_for = second;
        else
            one.part_of = first, one.phase = second;
    }
    return one;
}

}  // namespace

std::string_view family_of(std::string_view name) {
    return name.substr(0, name.find(':'));
}

std::span<const Quantity> quantities() {
    static const auto entries = entries_of(template_text("measurements.txt"));
    static const auto all = [] {
        std::vector<Quantity> made;
        for (const auto& entry : entries) made.push_back(quantity_of(entry));
        return made;
    }();
    return all;
}

const Quantity* find_quantity(std::string_view name) {
    const auto all = quantities();
    const auto found = std::ranges::find(all, family_of(name), &Quantity::name);
    return found == all.end() ? nullptr : &*found;
}

const Quantity& quantity(std::string_view name) {
    const Quantity* found = find_quantity(name);
    if (found == nullptr)
        throw base::Error(fmt::format("internal: no measurement is called '{}'", name));
    return *found;
}

std::vector<std::string> shown_at(Shown place, std::string_view command) {
    std::vector<std::string> names;
    for (const Quantity& one : quantities())
        if (one.shown <= place && one.shown_for == command) names.emplace_back(one.name);
    return names;
}

std::vector<const Quantity*> wholes() {
    return {&quantity(kStepTime), &quantity(kJobTime)};
}

std::vector<const Quantity*> parts_of(const Quantity& whole) {
    std::vector<const Quantity*> parts;
    for (const Quantity& one : quantities())
        if (one.part_of == whole.name) parts.push_back(&one);
    return parts;
}

const Quantity& part_of(const Quantity& whole, std::string_view phase) {
    for (const Quantity* part : parts_of(whole))
        if (part->phase == phase) return *part;
    throw base::Error(fmt::format("internal: {} has no phase '{}'", whole.name, phase));
}

Better better_of(std::string_view name, Kind kind) {
    if (const Quantity* known = find_quantity(name)) return known->better;
    return kind == Kind::cost ? Better::less : kind == Kind::rate ? Better::more : Better::neither;
}

}  // namespace ranklab::vocabulary
