// A file that is truncated while `io --read-only` reads it.
#include <H5Epublic.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <vector>

#include "base/error.hpp"
#include "comm/communicator.hpp"
#include "io/strategy.hpp"
#include "temp_folder.hpp"

namespace ranklab::io {
namespace {

std::unique_ptr<Strategy> serial_strategy(const Job& job, comm::Communicator& alone,
                                          base::IoTimes& times) {
    for (const auto& entry : strategies())
        if (entry.name == "hdf5-serial")
            return entry.make(job, {alone, times, [](std::int64_t) {}});
    return nullptr;
}

TEST(Hdf5Reader, ATruncatedFileIsRefused) {
    const tests::TempFolder folder;
    Job job;
    job.files = 3;
    job.size = 4;
    job.directory = folder.path();
    base::IoTimes times;
    const auto alone = comm::make_self();
    const auto strategy = serial_strategy(job, *alone, times);
    ASSERT_TRUE(strategy);
    strategy->open();
    strategy->write();
    strategy->close();
    std::vector<double> values(16);
    strategy->reader(times)->read(0, values);

    std::filesystem::resize_file(folder / "data.h5", 1000);
    EXPECT_THROW(strategy->reader(times)->read(0, values), base::DataError)
        << "HDF5 meets an error in it";
}

}  // namespace
}  // namespace ranklab::io
