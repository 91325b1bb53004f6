// The transform of lib/data/make beside FFTW's own over MPI, on the same cube: seconds of forward and inverse
// of the slowest rank, and a checksum of the result's bits, which tells whether it depends on the ranks.
#include <fftw3-mpi.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <complex>
#include <vector>

#include "base/clock.hpp"
#include "comm/mpi_environment.hpp"
#include "data/make/slab_fourier.hpp"

namespace {

using namespace ranklab;
using Clock = base::Clock;

// A number of the place alone: the same cube at any number of ranks.
double value_at(std::int64_t edge, std::int64_t i0, std::int64_t i1, std::int64_t i2) {
    auto x = static_cast<std::uint64_t>((i0 * edge + i1) * edge + i2) * 0x9e3779b97f4a7c15ULL;
    x ^= x >> 31U;
    x *= 0xbf58476d1ce4e5b9ULL;
    return static_cast<double>((x ^ (x >> 29U)) >> 11U) * 0x1p-53 - 0.5;
}

// A sum over places that does not depend on who holds them.
class Bits {
  public:
    void add(std::int64_t place, double value) {
        auto x =
            std::bit_cast<std::uint64_t>(value) + static_cast<std::uint64_t>(place) * 0x9e3779b97f4a7c15ULL;
        x ^= x >> 33U;
        x *= 0xff51afd7ed558ccdULL;
        sum_ += x ^ (x >> 33U);
    }
    std::int64_t of_all(comm::Communicator& control) const {
        auto sum = static_cast<std::int64_t>(sum_ & 0x0000ffffffffffffULL);
        control.allreduce(comm::view(std::span(&sum, 1)), comm::ReduceOp::sum);
        return sum & 0x0000ffffffffffffLL;
    }

  private:
    std::uint64_t sum_ = 0;
};

struct Outcome {
    double seconds = 0;
    std::int64_t bits = 0;
};

double slowest(comm::Communicator& control, double mine) {
    control.allreduce(comm::view(std::span(&mine, 1)), comm::ReduceOp::max);
    return mine;
}

Outcome ours(comm::Communicator& control, std::int64_t edge) {
    data::SlabFourier fourier(control, edge, [] {});
    Bits bits;
    control.barrier();
    const auto start = Clock::now();
    fourier.forward([&](std::int64_t i0, std::int64_t i1, std::span<double> row) {
        for (std::int64_t i2 = 0; i2 < edge; ++i2)
            row[static_cast<std::size_t>(i2)] = value_at(edge, i0, i1, i2);
    });
    fourier.inverse([](const data::Wave&) { return std::complex<double>(1.0, 0.0); },
                    [&](std::int64_t i0, std::int64_t i1, std::span<const double> row) {
                        for (std::int64_t i2 = 0; i2 < edge; ++i2)
                            bits.add((i0 * edge + i1) * edge + i2, row[static_cast<std::size_t>(i2)]);
                    });
    const double seconds = slowest(control, base::seconds_since(start));
    return {seconds, bits.of_all(control)};
}

// The same work: filling, both transforms, the visit of each wave, the scaling, reading all.
Outcome fftw(comm::Communicator& control, std::int64_t edge) {
    const std::ptrdiff_t half = edge / 2 + 1;
    std::ptrdiff_t planes = 0;
    std::ptrdiff_t first = 0;
    std::ptrdiff_t columns = 0;
    std::ptrdiff_t first_column = 0;
    const auto room = fftw_mpi_local_size_3d_transposed(edge, edge, half, MPI_COMM_WORLD, &planes, &first,
                                                        &columns, &first_column);
    double* const cube = fftw_alloc_real(static_cast<std::size_t>(2 * room));
    auto* const waves = reinterpret_cast<fftw_complex*>(cube);
    Bits bits;
    control.barrier();
    const auto start = Clock::now();
    auto* const forward = fftw_mpi_plan_dft_r2c_3d(edge, edge, edge, cube, waves, MPI_COMM_WORLD,
                                                   FFTW_ESTIMATE | FFTW_MPI_TRANSPOSED_OUT);
    auto* const inverse = fftw_mpi_plan_dft_c2r_3d(edge, edge, edge, waves, cube, MPI_COMM_WORLD,
                                                   FFTW_ESTIMATE | FFTW_MPI_TRANSPOSED_IN);
    const auto rows = [&](auto use) {
        for (std::ptrdiff_t p = 0; p < planes; ++p)
            for (std::ptrdiff_t y = 0; y < edge; ++y) use(first + p, y, cube + (p * edge + y) * 2 * half);
    };
    rows([&](std::int64_t i0, std::int64_t i1, double* row) {
        for (std::int64_t i2 = 0; i2 < edge; ++i2) row[i2] = value_at(edge, i0, i1, i2);
    });
    fftw_execute(forward);
    const std::complex<double> filter(1.0, 0.0);
    for (std::ptrdiff_t k = 0; k < columns * edge * half; ++k) {
        const auto filtered = std::complex<double>(waves[k][0], waves[k][1]) * filter;
        waves[k][0] = filtered.real();
        waves[k][1] = filtered.imag();
    }
    fftw_execute(inverse);
    const double scale = 1.0 / (static_cast<double>(edge) * static_cast<double>(edge * edge));
    rows([&](std::int64_t i0, std::int64_t i1, const double* row) {
        for (std::int64_t i2 = 0; i2 < edge; ++i2) bits.add((i0 * edge + i1) * edge + i2, row[i2] * scale);
    });
    const double seconds = slowest(control, base::seconds_since(start));
    fftw_destroy_plan(forward);
    fftw_destroy_plan(inverse);
    fftw_free(cube);
    return {seconds, bits.of_all(control)};
}

}  // namespace

int main(int argc, char** argv) {
    const std::int64_t edge = argc > 1 ? std::atoll(argv[1]) : 128;
    const int rounds = argc > 2 ? std::atoi(argv[2]) : 7;
    comm::MpiEnvironment mpi;
    auto& control = mpi.control();
    fftw_mpi_init();
    std::vector<double> own;
    std::vector<double> library;
    Outcome a;
    Outcome b;
    for (int round = -1; round < rounds; ++round) {
        a = ours(control, edge);
        b = fftw(control, edge);
        if (round < 0) continue;  // warms up
        own.push_back(a.seconds);
        library.push_back(b.seconds);
    }
    if (control.rank() == 0) {
        const auto median = [](std::vector<double> x) {
            std::sort(x.begin(), x.end());
            return x[x.size() / 2];
        };
        fmt::print(
            "edge {} ranks {}: ours {:.3f} s bits {:012x}; fftw3-mpi {:.3f} s bits {:012x}; {} rounds\n",
            edge, control.world_size(), median(own), a.bits, median(library), b.bits, rounds);
    }
    fftw_mpi_cleanup();
    return 0;
}
