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
#include "comm/mpi_environment.hpp"
#include "data/formats/volume_form.hpp"
#include "hdf5/array.hpp"
#include "hdf5/dataset_file.hpp"

namespace ranklab::data {

/// Bytes reserved for a volume file's attributes and HDF5's own structures.
inline constexpr std::uint64_t kHeaderBytes = 1U << 20U;

/// Calls visit(planes) for this rank's planes of a volume, at most 64 MiB of float32 each time. All
/// ranks make the same number of calls, so that `visit` can be collective; a rank with fewer planes
/// gets empty shares at the end.
template <class Visit>
void for_each_piece(comm::Communicator& control, const VolumeShape& shape,
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
                        mebibytes / base::seconds_since(start), "MiB/s per rank", "pieces");
    }
}

/// Writes the ranks' boxes. If MPI-IO fails on one rank, all throw.
inline void write_all(comm::Communicator& control, hdf5::DatasetFile& file,
                      const hdf5::Object& dataset, const hdf5::Box& box,
                      std::span<const float> values) {
    comm::all_or_throw_polling(
        control, [&] { file.write(dataset, box, values, hdf5::Requested::collective); });
}

/// Options of a file of volumes. Chunks and contiguous datasets begin at multiples of a page, so
/// that no two of them share a page.
inline hdf5::DatasetFileOptions volume_file(comm::Communicator& control) {
    return {.mpi = control.world_size() > 1 ? comm::native_mpi(control) : nullptr,
            .group = "/",
            .setting = "output",
            .element = base::Element::f32,
            .alignment = 4096,
            .chunk_cache = std::size_t{64} << 20U,
            .collective_opening = false};
}

/// Makes a dataset. A chunk holds all channels of a cube of edge `chunk`; 0: contiguous.
inline void make_volume(hdf5::DatasetFile& file, const std::string& name, const VolumeShape& shape,
                        std::int64_t chunk) {
    const VolumeShape edges{shape[0], chunk, chunk, chunk};
    file.make(name, shape, chunk == 0 ? std::span<const std::int64_t>() : edges);
}

/// Collective. Each rank reads its planes of a volume; all values are checked against the stored
/// checksum. Calls visit(planes, values) for each piece. Throws DataError for a fault.
template <class Visit>
ValueScan check_planes(comm::Communicator& control, const Volume& volume,
                       base::ProgressSink& progress, Visit visit) {
    const auto shape = volume.shape();
    ValueScan found;
    comm::all_or_throw(control, [&] {
        std::vector<float> values;
        for_each_piece(control, shape, progress, [&](base::Share planes) {
            values.resize(shape[0] * planes.count * shape[2] * shape[3]);
            hdf5::read_part(volume.object, part_of(shape, planes), values);
            found.add_planes(shape, planes, values);
            visit(planes, std::span<const float>(values));
        });
    });
    found.gather(control);
    comm::all_or_throw(control,
                       [&] { found.judge(volume.object.path(), shape, stored_sum(volume)); });
    return found;
}

}  // namespace ranklab::data
