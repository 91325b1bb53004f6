// Texts that are compared whole: several with their names in one golden file.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "golden.hpp"

namespace ranklab::report {

/// Rounds decimals to nine digits: further ones differ between machines.
inline std::string rounded(const std::string& text) {
    std::string all;
    for (std::size_t at = 0, end = 0; at < text.size(); at = end) {
        end = std::min(text.find_first_not_of("0123456789.", at), text.size());
        if (end == at) ++end;
        const std::string word = text.substr(at, end - at);
        const bool number =
            word.size() > 10 && word.front() != '.' && std::ranges::count(word, '.') == 1;
        all += number ? fmt::format("{:.9g}", std::stod(word)) : word;
    }
    return all;
}

inline std::string lines_of(const std::vector<std::string>& lines) {
    std::string text;
    for (const auto& line : lines) text += line + '\n';
    return text;
}

class Outputs {
  public:
    /// Drops the folder of a results file r.h5.
    void add(const std::string& name, std::string text) {
        if (const auto file = text.find("/r.h5 "); file != std::string::npos) {
            const auto begin = text.find_last_of(" \n", file) + 1;
            text.erase(begin, file + 1 - begin);
        }
        all_ += fmt::format("======== {}\n{}\n", name, rounded(text));
    }
    void expect(const std::string& file) const {
        tests::expect_golden("unit/report/" + file, all_);
    }

  private:
    std::string all_;
};

}  // namespace ranklab::report
