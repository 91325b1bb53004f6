// HDF5 silently makes some collective requests independent. Provokes it, and expects a warning.
#include <gtest/gtest.h>
#include <hdf5.h>

#include "comm/mpi_environment.hpp"
#include "hdf5/dataset_file.hpp"
#include "io/hdf5_strategy.hpp"
#include "mpi/shared_folder.hpp"

namespace ranklab::io {
namespace {

using hdf5::Requested;
using ranklab::testing::SharedFolder;
using ranklab::testing::world;

// A dataset of another type in the group /output: writing to it needs a type conversion.
hdf5::Object make_float32(const hdf5::Object& beside, hsize_t extent) {
    const hid_t file = H5Iget_file_id(beside.id());
    const hid_t space = H5Screate_simple(1, &extent, nullptr);
    const hid_t dataset = H5Dcreate2(file, "/output/converted", H5T_IEEE_F32LE, space, H5P_DEFAULT,
                                     H5P_DEFAULT, H5P_DEFAULT);
    H5Sclose(space);
    H5Fclose(file);
    return {hdf5::Id(dataset), "/output/converted"};
}

TEST(Fallback, OfATypeConversionIsMarked) {
    const SharedFolder folder;
    const int ranks = world().world_size();
    hdf5::DatasetFile file(folder.path() / "x.h5", {.mpi = comm::native_mpi(world())});
    const std::vector<std::int64_t> shape{ranks};
    file.make("plain", shape, {});
    Transfers transfers;
    {
        const auto plain = file.open("plain");
        const auto converted = make_float32(plain, static_cast<hsize_t>(ranks));
        const hdf5::Box box{{world().rank()}, {1}};
        const std::vector<double> value{0.5};
        file.write(plain, box, value, Requested::collective);
        EXPECT_TRUE(fallback_remarks(gather_transfers(world(), file)).empty());
        file.write(converted, box, value, Requested::collective);
        transfers = gather_transfers(world(), file);
    }
    file.close();

    const auto remarks = fallback_remarks(transfers);
    ASSERT_EQ(remarks.size(), 1U);
    const std::string& sentence = remarks.front().sentence;
    EXPECT_NE(sentence.find("data type conversion"), std::string::npos) << sentence;
    EXPECT_NE(sentence.find(fmt::format("{} of {} transfers", ranks, 2 * ranks)), std::string::npos)
        << sentence;
    EXPECT_EQ(transfers.size(), 2U);
}

}  // namespace
}  // namespace ranklab::io
