// The three-dimensional Fourier transform of a cube whose planes are spread over ranks: slabs of the first
// axis in space, slabs of the second axis in the spectrum. Every one-dimensional transform is the same plan
// on the same buffer, so the result has the same bits at any number of ranks.
#pragma once

#include <complex>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/share.hpp"
#include "comm/communicator.hpp"

namespace ranklab::data {

/// Called now and then during long work.
using Beat = std::function<void()>;

/// A place in the spectrum: whole cycles per edge along each axis of the array, in (-edge/2, edge/2]; the
/// last axis has the half 0 .. edge/2 alone, since the cube is real.
struct Wave {
    std::int64_t a0 = 0;
    std::int64_t a1 = 0;
    std::int64_t a2 = 0;
    std::int64_t squared() const { return a0 * a0 + a1 * a1 + a2 * a2; }
};

class SlabFourier {
  public:
    using Complex = std::complex<double>;
    using Fill = std::function<void(std::int64_t, std::int64_t, std::span<double>)>;
    using Filter = std::function<Complex(const Wave&)>;
    using Take = std::function<void(std::int64_t, std::int64_t, std::span<const double>)>;

    SlabFourier(comm::Communicator& control, std::int64_t edge, Beat beat);
    ~SlabFourier();

    std::int64_t edge() const { return edge_; }
    base::Share planes() const { return planes_; }  ///< of the first axis, of this rank

    /// Collective. Keeps the spectrum of the cube whose row (i0, i1), `edge` values, fill(i0, i1, row) gives;
    /// it is called for this rank's planes.
    void forward(const Fill& fill);
    /// Collective. The cube of the kept spectrum times filter(wave), which is real or purely imaginary and
    /// odd; take(i0, i1, row) gets its rows, scaled so that forward then inverse changes nothing.
    void inverse(const Filter& filter, const Take& take);
    /// Calls visit(wave, weight) for this rank's part of the spectrum; the weight is 2 where a wave also
    /// stands for its conjugate.
    void visit_waves(const std::function<void(const Wave&, int)>& visit) const;

  private:
    struct Lines;  // FFTW's plans and the buffers they work on

    /// Collective. The cube that is shared along one axis, shared along another: `mine` planes of edge x half
    /// numbers here become `theirs`.
    std::vector<Complex> exchanged(std::vector<Complex>& values, std::int64_t mine, std::int64_t theirs);
    std::vector<Complex> filtered_columns(const Filter& filter);
    void lay_out(const std::vector<Complex>& received);
    std::int64_t cycles(std::int64_t index) const { return 2 * index > edge_ ? index - edge_ : index; }

    comm::Communicator& control_;
    std::int64_t edge_;
    std::int64_t half_;    // edge / 2 + 1: what r2c keeps of the last axis
    base::Share planes_;   // of the first axis
    base::Share columns_;  // of the second axis
    Beat beat_;
    std::unique_ptr<Lines> lines_;
    std::vector<Complex> spectrum_;  // [second axis, mine][last axis, half][first axis]
};

}  // namespace ranklab::data
