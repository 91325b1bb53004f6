#include "data/make/slab_fourier.hpp"

#include <fftw3.h>

#include <algorithm>
#include <new>

#include "base/cast.hpp"
#include "comm/alltoall.hpp"

namespace ranklab::data {
namespace {

using Complex = SlabFourier::Complex;

fftw_complex* raw(Complex* values) {
    return reinterpret_cast<fftw_complex*>(values);  // FFTW's documented layout of std::complex
}

comm::BufferView view_of(std::vector<Complex>& values) {
    return {values.data(), 2 * values.size(), comm::DType::f64};
}

// What each rank gets of `rows` things of `width` doubles a piece, where the things are shared out.
std::vector<std::size_t> counts(std::int64_t things, std::int64_t width, int ranks) {
    std::vector<std::size_t> all;
    for (int r = 0; r < ranks; ++r)
        all.push_back(static_cast<std::size_t>(base::share_of(things, r, ranks).count * width) * 2);
    return all;
}

}  // namespace

// One line of each kind. FFTW_ESTIMATE chooses by rule, not by timing: the same plan on every rank.
struct SlabFourier::Lines {
    struct FftwFree {
        void operator()(void* memory) const noexcept { fftw_free(memory); }
    };
    struct PlanFree {
        void operator()(fftw_plan plan) const noexcept { fftw_destroy_plan(plan); }
    };
    using Plan = std::unique_ptr<std::remove_pointer_t<fftw_plan>, PlanFree>;

    explicit Lines(std::int64_t edge)
        : real(static_cast<double*>(fftw_malloc(sizeof(double) * static_cast<std::size_t>(edge)))),
          half(static_cast<Complex*>(fftw_malloc(sizeof(Complex) * static_cast<std::size_t>(edge / 2 + 1)))),
          line(static_cast<Complex*>(fftw_malloc(sizeof(Complex) * static_cast<std::size_t>(edge)))) {
        if (!real || !half || !line) throw std::bad_alloc();
        const int n = static_cast<int>(edge);
        to_half.reset(fftw_plan_dft_r2c_1d(n, real.get(), raw(half.get()), FFTW_ESTIMATE));
        to_real.reset(fftw_plan_dft_c2r_1d(n, raw(half.get()), real.get(), FFTW_ESTIMATE));
        ahead.reset(fftw_plan_dft_1d(n, raw(line.get()), raw(line.get()), FFTW_FORWARD, FFTW_ESTIMATE));
        back.reset(fftw_plan_dft_1d(n, raw(line.get()), raw(line.get()), FFTW_BACKWARD, FFTW_ESTIMATE));
        if (!to_half || !to_real || !ahead || !back) throw std::bad_alloc();
    }

    // One line out of `data`, transformed in place; its elements lie `stride` apart.
    void transform(const Plan& plan, Complex* data, std::int64_t stride, std::int64_t edge) const {
        for (std::int64_t i = 0; i < edge; ++i) line.get()[i] = data[i * stride];
        fftw_execute(plan.get());
        for (std::int64_t i = 0; i < edge; ++i) data[i * stride] = line.get()[i];
    }

    std::unique_ptr<double, FftwFree> real;
    std::unique_ptr<Complex, FftwFree> half;
    std::unique_ptr<Complex, FftwFree> line;
    Plan to_half;
    Plan to_real;
    Plan ahead;
    Plan back;
};

SlabFourier::SlabFourier(comm::Communicator& control, std::int64_t edge, Beat beat)
    : control_(control),
      edge_(edge),
      half_(edge / 2 + 1),
      planes_(base::share_of(edge, control.rank(), control.world_size())),
      columns_(planes_),
      beat_(std::move(beat)),
      lines_(std::make_unique<Lines>(edge)) {}

SlabFourier::~SlabFourier() = default;

void SlabFourier::forward(const Fill& fill) {
    // rows: [second axis][first axis, mine][last axis, half], so that what a rank is sent lies together.
    std::vector<Complex> rows(edge_ * planes_.count * half_);
    std::vector<Complex> plane(edge_ * half_);
    for (std::int64_t p = 0; p < planes_.count; ++p, beat_()) {
        for (std::int64_t y = 0; y < edge_; ++y) {
            fill(planes_.first + p, y, {lines_->real.get(), static_cast<std::size_t>(edge_)});
            fftw_execute(lines_->to_half.get());
            std::copy_n(lines_->half.get(), half_, plane.data() + y * half_);
        }
        for (std::int64_t k = 0; k < half_; ++k)
            lines_->transform(lines_->ahead, plane.data() + k, half_, edge_);
        for (std::int64_t y = 0; y < edge_; ++y)
            std::copy_n(plane.data() + y * half_, half_, rows.data() + (y * planes_.count + p) * half_);
    }
    const std::vector<Complex> received = exchanged(rows, planes_.count, columns_.count);
    rows = {};
    lay_out(received);
    for (std::int64_t y = 0; y < columns_.count; ++y, beat_())
        for (std::int64_t k = 0; k < half_; ++k)
            lines_->transform(lines_->ahead, spectrum_.data() + (y * half_ + k) * edge_, 1, edge_);
}

// A few planes at a time: whole lines of the cache are read and written.
void SlabFourier::lay_out(const std::vector<Complex>& received) {
    constexpr std::int64_t kTogether = 8;
    spectrum_.resize(received.size());
    for (int r = 0; r < control_.world_size(); ++r) {
        const base::Share theirs = base::share_of(edge_, r, control_.world_size());
        const Complex* block = received.data() + columns_.count * theirs.first * half_;
        for (std::int64_t y = 0; y < columns_.count; ++y)
            for (std::int64_t p0 = 0; p0 < theirs.count; p0 += kTogether)
                for (std::int64_t k = 0; k < half_; ++k)
                    for (std::int64_t p = p0; p < std::min(p0 + kTogether, theirs.count); ++p)
                        spectrum_[(y * half_ + k) * edge_ + theirs.first + p] =
                            block[(y * theirs.count + p) * half_ + k];
    }
}

void SlabFourier::inverse(const Filter& filter, const Take& take) {
    std::vector<Complex> columns = filtered_columns(filter);
    std::vector<Complex> rows = exchanged(columns, columns_.count, planes_.count);
    columns = {};
    const double scale = 1.0 / (base::real(edge_) * base::real(edge_ * edge_));
    const std::span<double> row(lines_->real.get(), edge_);
    for (std::int64_t p = 0; p < planes_.count; ++p, beat_()) {
        Complex* plane = rows.data() + p * half_;
        for (std::int64_t k = 0; k < half_; ++k)
            lines_->transform(lines_->back, plane + k, planes_.count * half_, edge_);
        for (std::int64_t y = 0; y < edge_; ++y) {
            std::copy_n(plane + y * planes_.count * half_, half_, lines_->half.get());
            fftw_execute(lines_->to_real.get());
            for (double& value : row) value *= scale;
            take(planes_.first + p, y, row);
        }
    }
}

// The kept spectrum, filtered and transformed along the first axis, each rank's planes of it together.
std::vector<Complex> SlabFourier::filtered_columns(const Filter& filter) {
    std::vector<Complex> columns(spectrum_.size());
    std::vector<base::Share> shares;
    for (int r = 0; r < control_.world_size(); ++r)
        shares.push_back(base::share_of(edge_, r, control_.world_size()));
    Complex* line = lines_->line.get();
    for (std::int64_t y = 0; y < columns_.count; ++y, beat_()) {
        for (std::int64_t k = 0; k < half_; ++k) {
            const Complex* kept = spectrum_.data() + (y * half_ + k) * edge_;
            for (std::int64_t z = 0; z < edge_; ++z)
                line[z] = kept[z] * filter({cycles(z), cycles(columns_.first + y), k});
            fftw_execute(lines_->back.get());
            for (const base::Share& theirs : shares) {
                Complex* block = columns.data() + columns_.count * theirs.first * half_;
                for (std::int64_t p = 0; p < theirs.count; ++p)
                    block[(y * theirs.count + p) * half_ + k] = line[theirs.first + p];
            }
        }
    }
    return columns;
}

void SlabFourier::visit_waves(const std::function<void(const Wave&, int)>& visit) const {
    for (std::int64_t y = 0; y < columns_.count; ++y) {
        for (std::int64_t k = 0; k < half_; ++k) {
            const int weight = k == 0 || 2 * k == edge_ ? 1 : 2;
            for (std::int64_t z = 0; z < edge_; ++z)
                visit({cycles(z), cycles(columns_.first + y), k}, weight);
        }
        beat_();
    }
}

std::vector<Complex> SlabFourier::exchanged(std::vector<Complex>& values, std::int64_t mine,
                                            std::int64_t theirs) {
    std::vector<Complex> received(edge_ * theirs * half_);
    const int ranks = control_.world_size();
    const auto to = counts(edge_, mine * half_, ranks);
    const auto from = counts(edge_, theirs * half_, ranks);
    comm::alltoallv(control_, view_of(values), to, view_of(received), from);
    return received;
}

}  // namespace ranklab::data
