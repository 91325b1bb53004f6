// Parametrised tests over a catalogue: one test per entry, named as the entry.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <ostream>
#include <set>
#include <string>
#include <vector>

namespace ranklab::testing {

/// "per-parameter" as GoogleTest allows it: "per_parameter".
template <class Entry>
std::string test_name(const ::testing::TestParamInfo<Entry>& info) {
    std::string name = info.param.name;
    std::replace_if(
        name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
    return name;
}

/// Users type the names: lower case and dashes, each once, each with a summary of one line.
template <class Entry>
void expect_good_names(const std::vector<Entry>& catalogue) {
    EXPECT_FALSE(catalogue.empty());
    std::set<std::string> seen;
    for (const auto& entry : catalogue) {
        EXPECT_TRUE(seen.insert(entry.name).second) << entry.name << " is there twice";
        EXPECT_EQ(entry.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-"),
                  std::string::npos)
            << entry.name;
        EXPECT_FALSE(entry.name.empty() || entry.summary.empty()) << entry.name;
        EXPECT_EQ(entry.summary.find('\n'), std::string::npos) << entry.name;
    }
}

}  // namespace ranklab::testing

// GoogleTest prints parameters; without these it would print their bytes.
#define RANKLAB_PRINTED_BY_NAME(Entry)                           \
    inline void PrintTo(const Entry& entry, std::ostream* out) { \
        *out << entry.name;                                      \
    }
