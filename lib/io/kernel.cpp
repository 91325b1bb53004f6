#include "io/kernel.hpp"

#include <cmath>

#include "base/error.hpp"
#include "base/numbers.hpp"

// Compiles a function for several processors, since without SSE 4.1 trunc() is a call. No version
// may use fused multiply-adds, which NumPy does not use (-ffp-contract=off).
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
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

// Python's v % 1: fmod(v, 1), plus 1 if negative. v - trunc(v) equals fmod(v, 1) exactly.
inline double floored_mod_1(double v) {
    const double rest = v - std::trunc(v);
    return rest < 0 ? rest + 1 : rest;
}

inline double value(double x, double y, double t_over_n) {
    const double a = x / 10;
    const double b = y / 10;
    return floored_mod_1(a * a * b + b * b * a + t_over_n);
}

// One function for both orders: a^2 b + b^2 a has equal bits after exchanging x and y.
RANKLAB_VERSIONS
void fill_row(const double* a, const double* aa, double fixed, std::size_t count, double t_over_n,
              double* out) {
    const double b = fixed / 10;
    const double bb = b * b;
    for (std::size_t i = 0; i < count; ++i)
        out[i] = floored_mod_1(aa[i] * b + bb * a[i] + t_over_n);
}

}  // namespace

Grid::Grid(std::int64_t size)
    : x(axis(0 - base::real(size) / 2, size)), y(axis(500 - base::real(size) / 2, size)) {}

// noipa: no inlining, no cloning, no assumptions about the body.
__attribute__((noipa)) double value_at(double x, double y, double n, double t) {
    return value(x, y, t / n);
}

void fill_record(const Grid& grid, Order order, std::int64_t n, std::int64_t t,
                 std::int64_t first_row, std::int64_t rows, std::span<double> out) {
    const std::size_t size = grid.size();
    if (out.size() != static_cast<std::size_t>(rows) * size)
        throw base::Error("internal: a record's rows do not fit their buffer");
    const double t_over_n = base::real(t) / base::real(n);
    const auto& of_rows = order == Order::by_y ? grid.y : grid.x;
    // Computes v / 10 and its square once for all rows, by the same operations as value().
    auto tenths = order == Order::by_y ? grid.x : grid.y;
    for (double& v : tenths) v /= 10;
    auto squares = tenths;
    for (double& v : squares) v *= v;
    for (std::int64_t i = 0; i < rows; ++i)
        fill_row(tenths.data(), squares.data(), of_rows[first_row + i], size, t_over_n,
                 out.data() + i * grid.size());
}

std::vector<double> meshgrids(std::int64_t size) {
    const Grid grid(size);
    std::vector<double> both;
    both.reserve(2 * size * size);
    for (std::int64_t row = 0; row < size; ++row)
        both.insert(both.end(), grid.x.begin(), grid.x.end());
    for (const double of_row : grid.y) both.insert(both.end(), size, of_row);
    return both;
}

RANKLAB_VERSIONS
void fill_from_meshgrid(std::span<const double> x, std::span<const double> y, double n, double t,
                        std::span<double> out) {
    if (x.size() != out.size() || y.size() != out.size())
        throw base::Error("internal: meshgrids of another size than the record");
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = value(x[i], y[i], t / n);
}

}  // namespace ranklab::io
