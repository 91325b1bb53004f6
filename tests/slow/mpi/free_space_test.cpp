// A disk that fills while HDF5 writes: HDF5 1.10 would crash there, or in MPI_Finalize.
#include <gtest/gtest.h>
#include <sys/mount.h>

#include <fstream>

#include "base/error.hpp"
#include "io/strategy.hpp"
#include "mpi/shared_folder.hpp"
#include "thrown_sentence.hpp"

namespace ranklab::io {
namespace {

namespace fs = std::filesystem;
using tests::TempFolder;
using tests::thrown_sentence;

namespace testing = ranklab::testing;

Job job_in(const TempFolder& folder, std::int64_t files, std::int64_t size) {
    Job job;
    job.files = files;
    job.size = size;
    job.directory = folder.path();
    return job;
}

std::unique_ptr<Strategy> make(const std::string& name, const Job& job, base::IoTimes& times) {
    for (const auto& entry : strategies()) {
        if (entry.name == name)
            return entry.make(job, {testing::world(), times, [](std::int64_t) {}});
    }
    throw base::Error("no strategy " + name);
}

// Another file fills the disk after the check of the free space.
TEST(FreeSpace, ThatGoesMeanwhileIsASentence) {
    for (const char* name :
         {"hdf5-serial", "hdf5-parallel-independent", "hdf5-parallel-collective"}) {
        const TempFolder folder;
        if (::mount("none", folder.path().c_str(), "tmpfs", 0, "size=4m") != 0)
            GTEST_SKIP() << "a small file system needs root and the right to mount";
        const Job job = job_in(folder, 20, 100);
        base::IoTimes times;
        auto strategy = make(name, job, times);
        strategy->open();
        std::ofstream other(folder / "other", std::ios::binary);
        other << std::string(3 << 20, 'x') << std::flush;
        other.close();
        // An independent write reports its error in close(), which is collective.
        const auto sentence = thrown_sentence<base::EnvironmentError>([&] {
            strategy->write();
            strategy->close();
        });
        EXPECT_NE(sentence.find("data.h5"), std::string::npos) << name << ": " << sentence;
        strategy.reset();
        EXPECT_FALSE(fs::exists(folder / "data.h5"));
        ::umount2(folder.path().c_str(), MNT_DETACH);
    }
}

}  // namespace
}  // namespace ranklab::io
