#include "io/binding_ceiling.hpp"

#include <fmt/format.h>

#include <array>

#include "base/cast.hpp"
#include "base/ceiling_share.hpp"

namespace ranklab::io {
namespace {

// In the order of CeilingKind.
constexpr std::array kMembers{&Ceilings::memory_copy, &Ceilings::write_own, &Ceilings::write_shared,
                              &Ceilings::create};

// Writers that do nothing but write wait for each other all the time; those of a strategy make their numbers
// in between; which of the two it was is not measured. One writer alone was simply quicker than the
// ceiling's.
std::string mark_of(const BindingCeiling& share, const StrategyEffort& strategy) {
    if (!(share.percent > base::kMostOfCeiling)) return "";
    const auto shown =
        fmt::format("{:.1f} % of {}: a ceiling that does not bind, ", share.percent, name_of(share.kind));
    if (strategy.writers > 1)
        return shown + fmt::format(
                           "since the strategy's {} writers make their numbers in between and may get less "
                           "in each other's way than as many that only write, or since the machine was "
                           "quicker then",
                           strategy.writers);
    return shown +
           fmt::format("since the machine was quicker while the strategy wrote than in {}",
                       strategy.measured == 1
                           ? std::string("the one measurement of the ceiling")
                           : fmt::format("any of the {} measurements of the ceiling", strategy.measured));
}

}  // namespace

std::string_view name_of(CeilingKind kind) {
    static constexpr std::array<std::string_view, 4> kNames{"memory copy", "raw write()", "raw pwrite()",
                                                            "file creation"};
    return kNames.at(base::number_of(kind));
}

const Ceiling& Ceilings::of(CeilingKind kind) const {
    return this->*kMembers.at(base::number_of(kind));
}

Ceiling& Ceilings::of(CeilingKind kind) {
    return this->*kMembers.at(base::number_of(kind));
}

Ceilings best_of(std::span<const Ceilings> measured) {
    Ceilings best;
    for (const auto& one : measured)
        for (const auto kind : kCeilingKinds)
            if (one.of(kind).per_second() > best.of(kind).per_second()) best.of(kind) = one.of(kind);
    return best;
}

std::optional<BindingCeiling> share_of_ceiling(CeilingKind kind, const Ceilings& ceilings,
                                               const StrategyEffort& strategy) {
    const bool creates = kind == CeilingKind::create;
    if (strategy.shared_file ? creates || kind == CeilingKind::write_own : kind == CeilingKind::write_shared)
        return std::nullopt;
    const Ceiling& ceiling = ceilings.of(kind);
    const double amount = creates ? strategy.records : strategy.bytes;
    const double strategy_s = creates ? strategy.create_s : strategy.write_s;
    if (!ceiling.known() || amount <= 0 || strategy_s <= 0) return std::nullopt;
    const double ceiling_s = amount / ceiling.per_second();
    BindingCeiling share{kind, ceiling_s, strategy_s, 100 * ceiling_s / strategy_s, ""};
    share.mark = mark_of(share, strategy);
    return share;
}

std::optional<BindingCeiling> binding_ceiling(const Ceilings& ceilings, const StrategyEffort& strategy) {
    std::optional<BindingCeiling> binding;
    for (const auto kind : kCeilingKinds) {
        const auto candidate = share_of_ceiling(kind, ceilings, strategy);
        if (candidate && (!binding || candidate->ceiling_s > binding->ceiling_s)) binding = candidate;
    }
    return binding;
}

}  // namespace ranklab::io
