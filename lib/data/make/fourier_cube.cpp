#include "data/make/fourier_cube.hpp"

#include <algorithm>
#include <new>
#include <thread>
#include <vector>

namespace ranklab::data {
namespace {

fftw_complex* fftw(FourierCube::Complex* values) {
    return reinterpret_cast<fftw_complex*>(values);
}

}  // namespace

void in_parallel(std::int64_t n, const std::function<void(base::Share)>& work) {
    const auto cores = static_cast<std::int64_t>(std::max(1U, std::thread::hardware_concurrency()));
    const int threads = static_cast<int>(std::min(n, cores));
    std::vector<std::jthread> others;
    for (int t = 1; t < threads; ++t)
        others.emplace_back([&work, n, t, threads] { work(base::share_of(n, t, threads)); });
    work(base::share_of(n, 0, threads));
}

FourierCube::FourierCube(std::int64_t edge)
    : edge_(edge), half_(edge / 2 + 1), spectrum_(buffer()), cube_(buffer()) {
    const int n = static_cast<int>(edge_);
    auto* const values = fftw(cube_.get());
    auto* const reals = reinterpret_cast<double*>(cube_.get());
    plane_forward_.reset(::fftw_plan_dft_r2c_2d(n, n, reals, values, FFTW_ESTIMATE));
    plane_back_.reset(::fftw_plan_dft_c2r_2d(n, n, values, reals, FFTW_ESTIMATE));
    columns_forward_ = columns_plan(FFTW_FORWARD);
    columns_back_ = columns_plan(FFTW_BACKWARD);
}

FourierCube::Buffer FourierCube::buffer() const {
    Buffer made(reinterpret_cast<Complex*>(::fftw_alloc_complex(edge_ * edge_ * half_)));
    if (!made) throw std::bad_alloc();
    return made;
}

FourierCube::Plan FourierCube::columns_plan(int sign) const {
    const int n = static_cast<int>(edge_);
    const int between = static_cast<int>(edge_ * half_);
    auto* const values = fftw(cube_.get());
    return Plan(::fftw_plan_many_dft(1, &n, static_cast<int>(half_), values, nullptr, between, 1,
                                     values, nullptr, between, 1, sign, FFTW_ESTIMATE));
}

void FourierCube::transform_columns(const Plan& plan, const Buffer& values) const {
    in_parallel(edge_, [&](base::Share lines) {
        for (std::int64_t i1 = lines.first; i1 < lines.end(); ++i1) {
            auto* const first = fftw(values.get() + i1 * half_);
            ::fftw_execute_dft(plan.get(), first, first);
        }
    });
}

void FourierCube::transform_forward() {
    in_parallel(edge_, [&](base::Share planes) {
        for (std::int64_t i0 = planes.first; i0 < planes.end(); ++i0)
            ::fftw_execute_dft_r2c(plane_forward_.get(), row(spectrum_, i0, 0).data(),
                                   fftw(spectrum_.get() + i0 * edge_ * half_));
    });
    transform_columns(columns_forward_, spectrum_);
}

void FourierCube::transform_back() {
    transform_columns(columns_back_, cube_);
    in_parallel(edge_, [&](base::Share planes) {
        for (std::int64_t i0 = planes.first; i0 < planes.end(); ++i0)
            ::fftw_execute_dft_c2r(plane_back_.get(), fftw(cube_.get() + i0 * edge_ * half_),
                                   row(cube_, i0, 0).data());
    });
}

}  // namespace ranklab::data
