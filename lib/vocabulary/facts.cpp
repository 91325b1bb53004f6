#include "vocabulary/facts.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "vocabulary/entries.hpp"
#include "vocabulary/templates.hpp"

namespace ranklab::vocabulary {
namespace {

// In the order of FactRole.
constexpr std::array<std::string_view, 4> kRoles{"surroundings", "work", "noted", "outcome"};

// The fact's value in older runs if `option` fits `pattern`; "=NAME": the value of option NAME.
struct OlderFact {
    std::string_view fact;
    std::string_view option;
    std::string_view pattern, value;
};
constexpr auto kOlderFacts = std::to_array<OlderFact>({
    {"storage.participants", "strategy", "text-*", "1"},
    {"storage.participants", "strategy", "binary", "1"},
    {"storage.participants", "strategy", "process-*", "1"},
    {"storage.participants", "strategy", "hdf5-serial", "1"},
    {"storage.workers", "strategy", "process-*", "=workers"},
    {"storage.workers", "strategy", "*", "0"},
    {"storage.baseline", "strategy", "text-loop", "yes"},
    {"storage.baseline", "strategy", "*", "no"},
    {"storage.bytes_per_value", "strategy", "text-*", "25"},
    {"storage.bytes_per_value", "strategy", "*", "8"},
    {"ladder.baseline", "strategy", "*", "text-loop"},
    {"training.sums_gradients", "sync", "none", "no"},
    {"training.sums_gradients", "mode", "ddp", "yes"},
    {"training.sums_at_once", "sync", "flat", "yes"},
    {"training.sums_in_backward", "mpi-progress", "none", "no"},
    {"training.sums_in_backward", "sync", "bucketed", "yes"},
    {"training.sums_in_backward", "sync", "c10d", "yes"},
    {"training.caps_buckets", "sync", "bucketed", "yes"},
    {"training.caps_buckets", "sync", "c10d", "yes"},
    {"training.waits_in_backward", "sync", "c10d", "yes"},
    {"training.reads_in_turn", "data", "hdf5", "yes"},
    // No version stores these: the options always imply them.
    {"training.single_device", "mode", "single", "yes"},
    {"training.single_device", "mode", "*", "no"},
    {"training.uses_sync", "mode", "ddp", "yes"},
    {"training.uses_sync", "mode", "*", "no"},
    {"training.baseline_sync", "sync", "per-parameter", "yes"},
    {"training.baseline_sync", "sync", "*", "no"},
    {"communication.memory", "backend", "nccl", "device"},
    {"communication.memory", "backend", "*", "host"},
});

// In the order of FactWord.
constexpr std::array<std::string_view, 10> kWords{"",      "yes",    "no",      "cold", "warm",
                                                  "mixed", "memory", "unknown", "host", "device"};

}  // namespace

std::span<const Fact> facts() {
    static const auto entries = entries_of(template_text("facts.txt"));
    static const auto all = [] {
        std::vector<Fact> made;
        for (const auto& [words, names] : entries)
            for (const auto name : words_of(names))
                made.push_back(
                    {name, FactRole(known_place(words.front(), kRoles)), words.size() > 1});
        return made;
    }();
    return all;
}

std::string_view text_of(FactWord word) {
    return kWords.at(static_cast<std::size_t>(word));
}

FactWord word_in(std::string_view value) {
    const auto first = value.substr(0, value.find(' '));
    const auto same = [](char a, char b) {  // versions up to 0.2.0 stored "NO (...)"
        return a == std::tolower(static_cast<unsigned char>(b));
    };
    const auto found = std::ranges::find_if(
        kWords, [&](std::string_view word) { return std::ranges::equal(word, first, same); });
    return found == kWords.end() ? FactWord::none : FactWord(found - kWords.begin());
}

bool fits(std::string_view key, std::string_view pattern) {
    if (pattern.ends_with('*')) return key.starts_with(pattern.substr(0, pattern.size() - 1));
    return key == pattern;
}

const Fact* find_fact(std::string_view name) {
    const Fact* best = nullptr;
    for (const Fact& fact : facts()) {
        if (!fits(name, fact.name)) continue;
        if (fact.name == name) return &fact;
        if (best == nullptr || fact.name.size() > best->name.size()) best = &fact;
    }
    return best;
}

FactRole role_of_fact(std::string_view name) {
    const Fact* fact = find_fact(name);
    return fact == nullptr ? FactRole::noted : fact->role;
}

std::string fact_of_older_run(std::string_view name,
                              const std::function<std::string(std::string_view)>& setting) {
    for (const OlderFact& row : kOlderFacts) {
        if (row.fact != name) continue;
        const std::string option = setting(row.option);
        if (option.empty() || !fits(option, row.pattern)) continue;
        return row.value.starts_with('=') ? setting(row.value.substr(1)) : std::string(row.value);
    }
    return "";
}

}  // namespace ranklab::vocabulary
