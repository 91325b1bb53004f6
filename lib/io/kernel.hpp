// The numbers that the ladder writes: f(x, y, n, t) = ((x/10)^2 (y/10) + (y/10)^2 (x/10) + t/n) mod 1 in
// float64, evaluated left to right and without fused multiply-adds, with Python's floored modulo: NumPy's
// very bits (tests/oracle). All results lie in [0, 1].
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ranklab::io {

/// size points of each axis: x = -size/2, -size/2 + 1, ...; y = 500 - size/2, ... as numpy.arange makes them.
struct Grid {
    explicit Grid(std::int64_t size);
    std::vector<double> x;
    std::vector<double> y;
    std::int64_t size() const { return std::ssize(x); }
};

/// Whose index comes first in a record: by_y is numpy.meshgrid's (row r, column c: f(x[c], y[r])), by_x the
/// original's double loop (f(x[r], y[c])), its transpose.
enum class Order { by_y, by_x };

/// One value, by a call that the compiler may not inline, vectorise or hoist: a loop over it costs what a
/// loop over scalars costs.
double value_at(double x, double y, double n, double t);

/// Rows [first_row, first_row + rows) of record t of n into out (rows x size values), vectorised.
void fill_record(const Grid& grid, Order order, std::int64_t n, std::int64_t t, std::int64_t first_row,
                 std::int64_t rows, std::span<double> out);

/// numpy.meshgrid(x, y) written out, which the original's workers are sent or build: of each element (r, c)
/// first all x[c], then all y[r].
std::vector<double> meshgrids(std::int64_t size);

/// out[i] = f(x[i], y[i]): for whoever was sent the two meshgrids. Vectorised.
void fill_from_meshgrid(std::span<const double> x, std::span<const double> y, double n, double t,
                        std::span<double> out);

}  // namespace ranklab::io
