// The two meshgrids as numpy.meshgrid(x, y) makes them, written out: what the original's workers are sent, or
// build. fill_from_meshgrid makes records of them, laid out by_y.
#pragma once

#include <vector>

#include "io/kernel.hpp"

namespace ranklab::io {

struct Meshgrids {
    explicit Meshgrids(std::int64_t size) {
        const Grid grid(size);
        x.reserve(grid.x.size() * grid.y.size());
        y.reserve(grid.x.size() * grid.y.size());
        for (const double of_row : grid.y) {
            x.insert(x.end(), grid.x.begin(), grid.x.end());
            y.insert(y.end(), grid.x.size(), of_row);
        }
    }
    std::vector<double> x;  ///< size x size; element (r, c) is the axis's x[c]
    std::vector<double> y;  ///< and y[r]
};

}  // namespace ranklab::io
