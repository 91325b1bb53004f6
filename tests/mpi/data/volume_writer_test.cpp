
#include <gtest/gtest.h>

#include <filesystem>

#include "base/error.hpp"
#include "base/numbers.hpp"
#include "comm/exchange.hpp"
#include "comm/mpi_environment.hpp"
#include "data/make/pieces.hpp"
#include "hdf5/array.hpp"
#include "hdf5/file.hpp"
#include "mpi_world.hpp"
#include "temp_folder.hpp"

namespace ranklab::data {
namespace {

using testing::world;

float value(std::int64_t place) {
    return static_cast<float>(place) + 0.5F;
}

class Volumes : public ::testing::Test {
  protected:
    // Rank 0's folder, known to all.
    std::filesystem::path file() {
        return std::filesystem::path(comm::broadcast_text(world(), folder_.path().string(), 0)) /
               "v.h5";
    }

    void write(const VolumeShape& shape, std::int64_t chunk) {
        hdf5::DatasetFile out(file(), volume_file(world()));
        make_volume(out, "V", shape, chunk);
        out.flush();
        const auto size = std::filesystem::file_size(file());
        EXPECT_GE(size, static_cast<std::uintmax_t>(shape[0] * shape[1] * shape[2] * shape[3]) * 4)
            << "allocated before it is written";
        const base::Share mine = base::share_of(shape[1], world().rank(), world().world_size());
        const std::int64_t plane = shape[2] * shape[3];
        const auto dataset = out.open("V");
        for (std::int64_t c = 0; c < shape[0]; ++c) {
            std::vector<float> values(static_cast<std::size_t>(mine.count * plane));
            for (std::size_t i = 0; i < values.size(); ++i)
                values[i] =
                    value((c * shape[1] + mine.first) * plane + static_cast<std::int64_t>(i));
            out.write(dataset, {{c, mine.first, 0, 0}, {1, mine.count, shape[2], shape[3]}}, values,
                      hdf5::Requested::collective);
        }
        out.close();
        world().barrier();
    }

    tests::TempFolder folder_;
};

TEST_F(Volumes, AreReadBackAsTheyWereWritten) {
    const VolumeShape shape{3, 7, 5, 6};
    for (const std::int64_t chunk : {0, 4, 64}) {
        write(shape, chunk);
        {
            const auto opened = hdf5::File::open_to_read(file());
            const auto dataset = hdf5::open_dataset(opened.root(), "V");
            const auto place = hdf5::place_of(dataset);
            EXPECT_EQ(place.shape, (std::vector<std::int64_t>{3, 7, 5, 6}));
            EXPECT_TRUE(place.is_float32);
            EXPECT_TRUE(place.direct());
            const auto expected = chunk == 0   ? std::vector<std::int64_t>{3, 7, 5, 6}
                                  : chunk == 4 ? std::vector<std::int64_t>{3, 4, 4, 4}
                                               : std::vector<std::int64_t>{3, 7, 5, 6};
            EXPECT_EQ(place.chunk, expected) << "all channels in one chunk";
            std::vector<float> values(2 * 4 * 30);
            hdf5::read_part(dataset, {{1, 2, 0, 0}, {2, 4, 5, 6}}, values);
            for (std::int64_t c = 0; c < 2; ++c)
                for (std::int64_t i = 0; i < 4 * 30; ++i)
                    ASSERT_EQ(values[static_cast<std::size_t>(c * 120 + i)],
                              value(((c + 1) * 7 + 2) * 30 + i));
        }
        world().barrier();
    }
}

TEST_F(Volumes, RefuseTheWrongNumberOfValues) {
    hdf5::DatasetFile out(file(), volume_file(world()));
    make_volume(out, "V", {1, 4, 2, 2}, 0);
    EXPECT_THROW(out.write(out.open("V"), {{0, 0, 0, 0}, {1, 1, 2, 2}}, std::vector<float>(3),
                           hdf5::Requested::collective),
                 base::Error);
    out.close();
}

}  // namespace
}  // namespace ranklab::data
