// Reads series, one per line, and prints the steps that stats::change_points() finds in each.
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "stats/change_points.hpp"

int main() {
    for (std::string line; std::getline(std::cin, line);) {
        std::istringstream words(line);
        std::vector<double> series;
        for (double value = 0; words >> value;) series.push_back(value);
        for (const auto step : ranklab::stats::change_points(series).steps)
            std::cout << step << ' ';
        std::cout << '\n';
    }
}
