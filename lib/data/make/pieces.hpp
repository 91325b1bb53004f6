// Passes over a volume in pieces that fit into memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/clock.hpp"
#include "base/numbers.hpp"
#include "base/progress.hpp"
#include "comm/communicator.hpp"
#include "comm/exchange.hpp"
#include "data/formats/volume_form.hpp"
#include "hdf5/volume.hpp"

namespace ranklab::data {

/// Calls visit(planes) for this rank's planes of a volume, at most 64 MiB of float32 each time. All
/// ranks make the same number of calls, so that `visit` can be collective; a rank with fewer planes
/// gets empty shares at the end.
template <class Visit>
void for_each_piece(comm::Communicator& control, const hdf5::VolumeShape& shape,
                    base::ProgressSink& progress, Visit visit) {
    const base::Share mine = base::share_of(shape[1], control.rank(), control.world_size());
    const std::int64_t longest = base::share_of(shape[1], 0, control.world_size()).count;
    constexpr std::int64_t kMostBytes = std::int64_t{64} << 20;
    const std::int64_t plane_bytes = 4 * shape[0] * shape[2] * shape[3];
    const std::int64_t piece = std::max<std::int64_t>(1, kMostBytes / plane_bytes);
    const auto start = base::Clock::now();
    for (std::int64_t done = 0; done < longest; done += piece) {
        const std::int64_t begin = std::min(done, mine.count);
        const base::Share planes{mine.first + begin, std::min(piece, mine.count - begin)};
        visit(planes);
        const double mebibytes = base::real(plane_bytes * (begin + planes.count)) / (1 << 20);
        progress.update(done / piece + 1, (longest + piece - 1) / piece,
                        mebibytes / base::seconds_since(start), "MiB/s a rank", "pieces");
    }
}

/// All channels of these planes.
inline hdf5::VolumePart part_of(std::int64_t channels, base::Share planes) {
    return {.channels = channels, .first_plane = planes.first, .planes = planes.count};
}

inline hdf5::VolumeShape shape_of(const hdf5::Volume& volume) {
    const auto& s = volume.place().shape;
    return {s[0], s[1], s[2], s[3]};
}

/// Collective. Reads a volume, each rank its planes, and checks all values against the stored
/// checksum; visit(planes, values) gets each piece. Throws DataError for a fault.
template <class Visit>
ValueScan check_planes(comm::Communicator& control, const hdf5::Volume& volume,
                       base::ProgressSink& progress, Visit visit) {
    const auto shape = shape_of(volume);
    ValueScan found;
    comm::all_or_throw(control, [&] {
        std::vector<float> values;
        for_each_piece(control, shape, progress, [&](base::Share planes) {
            values.resize(shape[0] * planes.count * shape[2] * shape[3]);
            volume.read(part_of(shape[0], planes), values);
            found.add_planes(shape, planes, values);
            visit(planes, std::span<const float>(values));
        });
    });
    found.gather(control);
    comm::all_or_throw(control,
                       [&] { found.judge(volume.object().path(), shape, stored_sum(volume)); });
    return found;
}

}  // namespace ranklab::data
