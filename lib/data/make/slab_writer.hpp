// Writes a rank's planes of a volume in pieces, all ranks together, and keeps the volume's checksum
// and the progress.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/numbers.hpp"
#include "base/progress.hpp"
#include "comm/communicator.hpp"
#include "data/formats/volume_form.hpp"
#include "hdf5/volume.hpp"

namespace ranklab::data {

/// Progress of work in parts of known number, with the rate that it had so far.
class Pace {
  public:
    /// `unit` is the rate's ("MiB/s"); `note` names the step. Both must be string literals.
    Pace(base::ProgressSink& progress, std::int64_t total, std::string_view unit,
         std::string_view note)
        : progress_(progress), total_(total), unit_(unit), note_(note) {}

    /// One step more is done, which was `amount` of the rate's unit (MiB).
    void step(double amount) {
        ++done_;
        amount_ += amount;
        const double seconds = base::seconds_since(start_);
        progress_.update(done_, total_, seconds > 0 ? amount_ / seconds : 0, unit_, note_);
    }

  private:
    base::ProgressSink& progress_;
    std::int64_t total_;
    std::string_view unit_;
    std::string_view note_;
    std::int64_t done_ = 0;
    double amount_ = 0;
    base::Clock::time_point start_ = base::Clock::now();
};

constexpr double mebibytes(std::int64_t bytes) {
    return base::real(bytes) / (1 << 20);
}

class SlabWriter {
  public:
    SlabWriter(comm::Communicator& control, hdf5::VolumeWriter& file, std::string name,
               const hdf5::VolumeShape& shape);

    /// Collective: `values` are `channels` channels of the planes `mine`, row-major. Every rank
    /// calls it the same number of times, some perhaps with no planes.
    void write(std::int64_t first_channel, std::int64_t channels, base::Share mine,
               std::span<const float> values);

    std::uint64_t checksum() const;

  private:
    comm::Communicator& control_;
    hdf5::VolumeWriter& file_;
    std::string name_;
    hdf5::VolumeShape shape_;
    std::uint64_t sum_ = 0;
};

/// [rows][columns] becomes [columns][rows].
inline void transpose(std::span<const float> from, std::int64_t columns, std::span<float> to) {
    const std::size_t width = columns;
    const std::size_t rows = from.size() / width;
    for (std::size_t c = 0; c < width; ++c)
        for (std::size_t r = 0; r < rows; ++r) to[c * rows + r] = from[r * width + c];
}

/// Visits this rank's planes in pieces of at most 64 MiB (two copies are in memory), equally many
/// on every rank: visit(planes) gets no planes where a rank has fewer.
template <class Visit>
void for_each_piece(comm::Communicator& control, const hdf5::VolumeShape& shape,
                    base::ProgressSink& progress, Visit visit) {
    const base::Share mine = base::share_of(shape[1], control.rank(), control.world_size());
    const std::int64_t longest = base::share_of(shape[1], 0, control.world_size()).count;
    constexpr std::int64_t kMostBytes = std::int64_t{64} << 20;
    const std::int64_t plane_bytes = 4 * shape[0] * shape[2] * shape[3];
    const std::int64_t piece = std::max<std::int64_t>(1, kMostBytes / plane_bytes);
    Pace pace(progress, (longest + piece - 1) / piece, "MiB/s a rank", "pieces");
    for (std::int64_t done = 0; done < longest; done += piece) {
        const std::int64_t begin = std::min(done, mine.count);
        visit(base::Share{mine.first + begin, std::min(piece, mine.count - begin)});
        pace.step(mebibytes(plane_bytes * std::min(piece, mine.count - begin)));
    }
}

}  // namespace ranklab::data
