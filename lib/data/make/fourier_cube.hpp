// The three-dimensional Fourier transform of a real cube in one process's memory, by FFTW on all
// cores that the process has. Each plane, and each column of planes, is transformed by the same
// single-threaded plan (FFTW_ESTIMATE), so the result has the same bits at any number of threads.
#pragma once

#include <fftw3.h>

#include <complex>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "base/numbers.hpp"

namespace ranklab::data {

/// Calls work(part) for parts that make up 0 .. n - 1 together, on as many threads as the process
/// has cores.
void in_parallel(std::int64_t n, const std::function<void(base::Share)>& work);

/// A place in the spectrum: whole cycles per edge along each axis, in (-edge/2, edge/2]; the last
/// axis has the half 0 .. edge/2 alone, since the cube is real.
struct Wave {
    std::int64_t a0 = 0;
    std::int64_t a1 = 0;
    std::int64_t a2 = 0;
    std::int64_t squared() const { return a0 * a0 + a1 * a1 + a2 * a2; }
};

class FourierCube {
  public:
    using Complex = std::complex<double>;

    /// Two cubes of 8 bytes a cell: std::bad_alloc where there is no memory for them.
    explicit FourierCube(std::int64_t edge);

    std::int64_t edge() const { return edge_; }

    /// Keeps the spectrum of the cube whose rows fill(i0, i1, row) gives.
    template <class Fill>
    void forward(const Fill& fill) {
        in_parallel(edge_, [&](base::Share planes) {
            for (std::int64_t i0 = planes.first; i0 < planes.end(); ++i0)
                for (std::int64_t i1 = 0; i1 < edge_; ++i1) fill(i0, i1, row(spectrum_, i0, i1));
        });
        transform_forward();
    }
    /// Makes the cube from the kept spectrum times filter(wave), which is real or purely imaginary
    /// and odd.
    template <class Filter>
    void inverse(const Filter& filter) {
        in_parallel(edge_, [&](base::Share planes) {
            std::int64_t at = planes.first * edge_ * half_;
            for (std::int64_t i0 = planes.first; i0 < planes.end(); ++i0)
                for (std::int64_t i1 = 0; i1 < edge_; ++i1)
                    for (std::int64_t k = 0; k < half_; ++k, ++at)
                        cube_[at] = spectrum_[at] * filter(Wave{cycles(i0), cycles(i1), k});
        });
        transform_back();
    }
    /// Calls take(first cell of the row, row) for the rows of the cube that inverse() made. Forward
    /// and then inverse with a filter of 1 multiplies it by edge^3.
    template <class Take>
    void read(const Take& take) const {
        in_parallel(edge_, [&](base::Share planes) {
            for (std::int64_t i0 = planes.first; i0 < planes.end(); ++i0)
                for (std::int64_t i1 = 0; i1 < edge_; ++i1)
                    take((i0 * edge_ + i1) * edge_, std::span<const double>(row(cube_, i0, i1)));
        });
    }

  private:
    struct Free {
        void operator()(Complex* values) const { ::fftw_free(values); }
        void operator()(fftw_plan plan) const { ::fftw_destroy_plan(plan); }
    };
    using Buffer = std::unique_ptr<Complex[], Free>;
    using Plan = std::unique_ptr<fftw_plan_s, Free>;

    Buffer buffer() const;
    Plan columns_plan(int sign) const;
    void transform_columns(const Plan& plan, const Buffer& values) const;
    void transform_forward();
    void transform_back();
    std::int64_t cycles(std::int64_t i) const { return 2 * i <= edge_ ? i : i - edge_; }
    /// In place: a row of edge numbers lies in half_ complex ones.
    std::span<double> row(const Buffer& values, std::int64_t i0, std::int64_t i1) const {
        auto* first = reinterpret_cast<double*>(values.get() + (i0 * edge_ + i1) * half_);
        return {first, static_cast<std::size_t>(edge_)};
    }

    std::int64_t edge_;
    std::int64_t half_;  // complex numbers of a row's spectrum
    Buffer spectrum_;
    Buffer cube_;
    Plan plane_forward_, plane_back_;      // of the planes of the first axis, both other axes
    Plan columns_forward_, columns_back_;  // along the first axis, for one i1
};

}  // namespace ranklab::data
