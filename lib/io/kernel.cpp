#include "io/kernel.hpp"

#include <cmath>

#include "base/error.hpp"
#include "base/numbers.hpp"

// Several versions of a function, chosen by the processor at hand: without SSE 4.1 trunc() is a call. None of
// them may use fused multiply-adds (-ffp-contract=off, and no version enables them): NumPy does not.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define RANKLAB_VERSIONS __attribute__((target_clones("avx512f", "avx2", "sse4.1", "default")))
#else
#define RANKLAB_VERSIONS
#endif

namespace ranklab::io {
namespace {

std::vector<double> axis(double first, std::int64_t size) {
    std::vector<double> values(size);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = first + base::real(i);
    return values;
}

// Python's v mod 1: fmod, then + 1 where that is negative. v - trunc(v) is fmod(v, 1), exactly.
inline double floored_mod_1(double v) {
    const double rest = v - std::trunc(v);
    return rest < 0 ? rest + 1 : rest;
}

inline double value(double x, double y, double t_over_n) {
    const double a = x / 10;
    const double b = y / 10;
    return floored_mod_1(a * a * b + b * b * a + t_over_n);
}

// What a row needs of its axis, once for all rows: v / 10, and its square. The same operations in the same
// order.
struct Tenths {
    explicit Tenths(const std::vector<double>& axis) : tenth(axis), square(axis.size()) {
        for (std::size_t i = 0; i < tenth.size(); ++i) {
            tenth[i] /= 10;
            square[i] = tenth[i] * tenth[i];
        }
    }
    std::vector<double> tenth;
    std::vector<double> square;
};

RANKLAB_VERSIONS
void fill_row_by_y(const double* a, const double* aa, double y, std::size_t count, double t_over_n,
                   double* out) {
    const double b = y / 10;
    const double bb = b * b;
    for (std::size_t i = 0; i < count; ++i) out[i] = floored_mod_1(aa[i] * b + bb * a[i] + t_over_n);
}

RANKLAB_VERSIONS
void fill_row_by_x(double x, const double* b, const double* bb, std::size_t count, double t_over_n,
                   double* out) {
    const double a = x / 10;
    const double aa = a * a;
    for (std::size_t i = 0; i < count; ++i) out[i] = floored_mod_1(aa * b[i] + bb[i] * a + t_over_n);
}

RANKLAB_VERSIONS
void fill_pairs(const double* x, const double* y, std::size_t count, double t_over_n, double* out) {
    for (std::size_t i = 0; i < count; ++i) out[i] = value(x[i], y[i], t_over_n);
}

}  // namespace

Grid::Grid(std::int64_t size)
    : x(axis(0 - base::real(size) / 2, size)), y(axis(500 - base::real(size) / 2, size)) {}

// noipa: no inlining, no cloning, no knowledge of what is inside.
__attribute__((noipa)) double value_at(double x, double y, double n, double t) {
    return value(x, y, t / n);
}

void fill_record(const Grid& grid, Order order, std::int64_t n, std::int64_t t, std::int64_t first_row,
                 std::int64_t rows, std::span<double> out) {
    const std::size_t size = grid.size();
    if (out.size() != static_cast<std::size_t>(rows) * size)
        throw base::Error("internal: a record's rows do not fit their buffer");
    const double t_over_n = base::real(t) / base::real(n);
    const Tenths columns(order == Order::by_y ? grid.x : grid.y);
    for (std::size_t i = 0; i < static_cast<std::size_t>(rows); ++i) {
        const std::size_t row = static_cast<std::size_t>(first_row) + i;
        double* to = out.data() + i * size;
        if (order == Order::by_y)
            fill_row_by_y(columns.tenth.data(), columns.square.data(), grid.y[row], size, t_over_n, to);
        else
            fill_row_by_x(grid.x[row], columns.tenth.data(), columns.square.data(), size, t_over_n, to);
    }
}

std::vector<double> meshgrids(std::int64_t size) {
    const Grid grid(size);
    std::vector<double> both;
    both.reserve(2 * size * size);
    for (std::int64_t row = 0; row < size; ++row) both.insert(both.end(), grid.x.begin(), grid.x.end());
    for (const double of_row : grid.y) both.insert(both.end(), size, of_row);
    return both;
}

void fill_from_meshgrid(std::span<const double> x, std::span<const double> y, double n, double t,
                        std::span<double> out) {
    if (x.size() != out.size() || y.size() != out.size())
        throw base::Error("internal: meshgrids of another size than the record");
    fill_pairs(x.data(), y.data(), out.size(), t / n, out.data());
}

}  // namespace ranklab::io
