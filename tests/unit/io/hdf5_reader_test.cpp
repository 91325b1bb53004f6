// What `io --read-only` reads may be anybody's: where HDF5 crashes on it, a sentence says so.
#include <H5Epublic.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "comm/self.hpp"
#include "io/strategy.hpp"
#include "temp_folder.hpp"

namespace ranklab::io {
namespace {

// HDF5 calls this from within, where it meets an error: from now on it crashes there instead.
herr_t crash(hid_t, void*) {
    const rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    raise(SIGSEGV);
    return 0;
}

std::unique_ptr<Strategy> serial_strategy(const Job& job, comm::Communicator& alone, base::IoTimes& times) {
    for (const auto& entry : strategies())
        if (entry.name == "hdf5-serial") return entry.make(job, {alone, times, [](std::int64_t) {}});
    return nullptr;
}

TEST(Hdf5Reader, ACrashOfTheLibraryIsASentence) {
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
    EXPECT_THROW(strategy->reader(times)->read(0, values), base::DataError) << "HDF5 meets an error in it";
    EXPECT_EXIT(
        {
            H5Eset_auto2(H5E_DEFAULT, crash, nullptr);
            strategy->reader(times)->read(0, values);
        },
        ::testing::ExitedWithCode(3), "data.h5: HDF5 crashed at work on this file");
}

}  // namespace
}  // namespace ranklab::io
