// Damaged files of points end in a forecast, a refusal or a sentence; and a file's forecasts.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>

#include "base/error.hpp"
#include "report/predict/curve.hpp"
#include "unit/results/sample_run.hpp"

namespace ranklab::report::predict {
namespace {

#ifdef RANKLAB_MANY_SIMULATIONS
constexpr int kFiles = 2000;
#else
constexpr int kFiles = 50;
#endif

const std::vector<std::string> kSound{
    "ranks,time_s\n1,1.01\n1,0.99\n2,0.52\n4,0.27\n8,0.15\n",
    "ranks,rate,low,high,nodes\n1,10,9.8,10.2,1\n2,19,18,20,1\n4,36,35,37,1\n8,60,58,62,2\n",
    "# a comment\nranks,time_s,nodes\n4,1,1\n8,1.02,2\n16,1.05,4\n32,1.1,8\n64,1.2,16\n"};
const std::vector<std::string> kPieces{"0",    "-1",    "1",   "1e300", "1e-300", "nan",  "inf",
                                       "1e9",  "2e9",   "1.5", ",",     "\n",     "",     "\"",
                                       "rate", "nodes", "x",   "1e999", "#",      "\xff", " "};

// Replaces a cell or a byte, doubles a line or removes one, once or twice.
std::string damaged(std::mt19937& random, std::string text) {
    const auto below = [&](std::size_t n) {
        return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
    };
    for (std::size_t i = 0, times = 1 + below(2); i < times && !text.empty(); ++i) {
        const std::size_t at = below(text.size()), end = std::min(text.find('\n', at), text.size()),
                          begin = text.rfind('\n', at) + 1,  // 0 in the first line
            cell = text.find_first_of(",\n", at) + 1,
                          cell_end = std::min(text.find_first_of(",\n", cell), text.size());
        switch (below(4)) {
            case 0:
                text.replace(cell, cell_end - cell, kPieces[below(kPieces.size())]);
                break;
            case 1:
                if (begin <= end) text.insert(begin, text.substr(begin, end + 1 - begin));
                break;
            case 2:
                if (begin <= end) text.erase(begin, end + 1 - begin);
                break;
            default:
                text[at] = static_cast<char>(below(256));
        }
    }
    return text;
}

TEST(Points, DamagedFilesGiveAForecastARefusalOrASentence) {
    const results::TempFolder folder;
    const auto path = folder / "points.csv";
    const forecast::Sources sources({});
    std::mt19937 random(20261129);
    int forecasts = 0, refusals = 0, errors = 0;
    for (int i = 0; i < kFiles; ++i) {
        const std::string text = damaged(random, kSound[static_cast<std::size_t>(i) % 3]);
        results::write_bytes(path, text);
        try {
            const auto measured = read_points(path, {});
            const double largest = measured.points.back().ranks;
            const auto found =
                predict(measured, sources, {1, 2 * largest, 4 * largest}, i % 2 == 0);
            std::size_t rows = 0;
            for (std::size_t row = 0; row < found.frame.rows.size(); ++row) {
                const auto& what = found.frame.at(row, "what").text;
                if (what == "measured") continue;
                ++rows;
                const auto& [low, high] = found.frame.at(row, 2).interval;
                const double value = found.frame.at(row, 2).number;
                if (what == "forecast") {
                    EXPECT_TRUE(std::isfinite(value) && low > 0 && low <= value && value <= high &&
                                std::isfinite(high))
                        << text;
                    ++forecasts;
                } else {
                    EXPECT_FALSE(found.frame.rows[row].caveats.empty()) << text;
                    ++refusals;
                }
            }
            EXPECT_EQ(rows, 3U) << text;
            EXPECT_FALSE(json_of(found).empty());
        } catch (const base::Error& error) {
            EXPECT_GT(std::string(error.what()).size(), 10U);
            ++errors;
        }
    }
    // Each of the three outcomes is met.
    for (const int count : {forecasts, refusals, errors}) EXPECT_GE(count, kFiles / 10);
}

}  // namespace
}  // namespace ranklab::report::predict
