#include "data/make/slab_fourier.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <numbers>

#include "data/formats/checksum.hpp"
#include "data/make/counter_random.hpp"
#include "data/make/slab_writer.hpp"
#include "mpi_world.hpp"

namespace ranklab::data {
namespace {

using testing::world;
using Complex = SlabFourier::Complex;

double value(std::int64_t i0, std::int64_t i1, std::int64_t i2) {
    return std::sin(static_cast<double>(i0 * 5 + i1 * 3 + i2)) + static_cast<double>((i0 * 7 + i1 * i2) % 4);
}

void fill(SlabFourier& fourier) {
    fourier.forward([&](std::int64_t i0, std::int64_t i1, std::span<double> row) {
        for (std::size_t i2 = 0; i2 < row.size(); ++i2)
            row[i2] = value(i0, i1, static_cast<std::int64_t>(i2));
    });
}

class Edges : public ::testing::TestWithParam<std::int64_t> {};
INSTANTIATE_TEST_SUITE_P(EvenOddAndFewerThanRanks, Edges, ::testing::Values(2, 5, 8, 11));

TEST_P(Edges, ThereAndBackIsTheSame) {
    SlabFourier fourier(world(), GetParam(), [] {});
    fill(fourier);
    std::int64_t rows = 0;
    fourier.inverse([](const Wave&) { return Complex(1); },
                    [&](std::int64_t i0, std::int64_t i1, std::span<const double> row) {
                        for (std::size_t i2 = 0; i2 < row.size(); ++i2)
                            EXPECT_NEAR(row[i2], value(i0, i1, static_cast<std::int64_t>(i2)), 1e-12);
                        ++rows;
                    });
    EXPECT_EQ(rows, fourier.planes().count * GetParam());
}

// One wave alone, against its definition: (1/N^3) sum over cells x e^(-2 pi i n.x / N) of the value, and the
// conjugate wave with it.
TEST_P(Edges, EachWaveIsTheDefinitions) {
    const std::int64_t n = GetParam();
    SlabFourier fourier(world(), n, [] {});
    fill(fourier);
    const std::int64_t top = n / 2;
    for (const Wave wanted : {Wave{0, 0, 0}, Wave{1, 0, 0}, Wave{0, 1, 1},
                              Wave{n > 4 ? -2 : 1, 1, n > 4 ? 2 : 1}, Wave{top, top, top}}) {
        Complex sum;
        const auto turn = [&](double i0, double i1, double i2) {
            return 2 * std::numbers::pi *
                   (static_cast<double>(wanted.a0) * i0 + static_cast<double>(wanted.a1) * i1 +
                    static_cast<double>(wanted.a2) * i2) /
                   static_cast<double>(n);
        };
        for (std::int64_t i0 = 0; i0 < n; ++i0)
            for (std::int64_t i1 = 0; i1 < n; ++i1)
                for (std::int64_t i2 = 0; i2 < n; ++i2)
                    sum += value(i0, i1, i2) *
                           std::polar(1.0, -turn(static_cast<double>(i0), static_cast<double>(i1),
                                                 static_cast<double>(i2)));
        sum /= static_cast<double>(n * n * n);
        // How many waves of the half spectrum are this one or its mirror; a wave at n/2 is its own along that
        // axis.
        const auto same = [&](std::int64_t a, std::int64_t b) { return ((a - b) % n + n) % n == 0; };
        const auto is = [&](const Wave& w, int sign) {
            return same(w.a0, sign * wanted.a0) && same(w.a1, sign * wanted.a1) &&
                   same(w.a2, sign * wanted.a2);
        };
        const bool own_mirror = same(2 * wanted.a0, 0) && same(2 * wanted.a1, 0) && same(2 * wanted.a2, 0);
        fourier.inverse([&](const Wave& w) { return Complex(is(w, 1) || is(w, -1) ? 1 : 0); },
                        [&](std::int64_t i0, std::int64_t i1, std::span<const double> row) {
                            for (std::size_t i2 = 0; i2 < row.size(); ++i2) {
                                const Complex one = sum * std::polar(1.0, turn(static_cast<double>(i0),
                                                                               static_cast<double>(i1),
                                                                               static_cast<double>(i2)));
                                EXPECT_NEAR(row[i2], (own_mirror ? 1 : 2) * one.real(), 1e-12);
                            }
                        });
    }
}

TEST_P(Edges, VisitsEachWaveOnceWithItsMirror) {
    const std::int64_t n = GetParam();
    SlabFourier fourier(world(), n, [] {});
    fill(fourier);
    std::int64_t waves = 0;
    fourier.visit_waves([&](const Wave& wave, int weight) {
        waves += weight;
        EXPECT_LE(2 * std::abs(wave.a0), n);
        EXPECT_GT(2 * wave.a0, -n);
    });
    world().allreduce(comm::view(std::span(&waves, 1)), comm::ReduceOp::sum);
    EXPECT_EQ(waves, n * n * n);
}

// A checksum over all cells of a field that is derived along the second axis.
std::uint64_t field_checksum(comm::Communicator& control, std::int64_t edge) {
    SlabFourier fourier(control, edge, [] {});
    fourier.forward([&](std::int64_t i0, std::int64_t i1, std::span<double> row) {
        CounterRandom(1, 1).normals(static_cast<std::uint64_t>((i0 * edge + i1) * edge), row);
    });
    std::uint64_t sum = 0;
    const auto derive = [&](const Wave& w) {
        return Complex(0, static_cast<double>(2 * w.a1 == edge ? 0 : w.a1));
    };
    fourier.inverse(derive, [&](std::int64_t i0, std::int64_t i1, std::span<const double> row) {
        for (std::size_t i2 = 0; i2 < row.size(); ++i2) {
            const auto place = static_cast<std::uint64_t>((i0 * edge + i1) * edge) + i2;
            sum += mix64(std::bit_cast<std::uint64_t>(row[i2]) + 0x9E3779B97F4A7C15U * place);
        }
    });
    return sum_over_ranks(control, sum);
}

TEST(SlabFourier, GivesTheSameBitsAtAnyRankCount) {
    const auto self = world().split(world().rank(), 0);
    for (const std::int64_t edge : {7, 10})
        EXPECT_EQ(field_checksum(world(), edge), field_checksum(*self, edge));
}

}  // namespace
}  // namespace ranklab::data
