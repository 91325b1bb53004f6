// Outputs that cannot take results, and inputs that are no results files: each has its exit code,
// and no byte changes.
#include <gtest/gtest.h>
#include <hdf5.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include "base/error.hpp"
#include "hdf5/file.hpp"
#include "results/result_file.hpp"
#include "thrown_sentence.hpp"
#include "unit/results/in_child.hpp"
#include "unit/results/sample_run.hpp"

// HDF5 1.10 leaks memory on a damaged file; the leak sanitizer calls this function.
extern "C" const char* __lsan_default_suppressions() {
    return "leak:libhdf5";
}

namespace ranklab::results {
namespace {

namespace fs = std::filesystem;
using base::ExitCode;

template <class Call>
void expect_error(Call call, ExitCode code, const std::string& part) {
    try {
        call();
        ADD_FAILURE() << "no error, where '" << part << "' was due";
    } catch (const base::Error& error) {
        const std::string sentence = tests::sentence_of(error);
        EXPECT_EQ(error.code(), code) << sentence;
        EXPECT_NE(sentence.find(part), std::string::npos) << sentence;
        EXPECT_EQ(sentence.find('\n'), std::string::npos) << sentence;
    }
}

void expect_no_output(const fs::path& path, ExitCode code, const std::string& part) {
    expect_error([&] { ResultFile(path).check_writable(1000); }, code, part);
    expect_error([&] { ResultFile(path).append(sample_run()); }, code, part);
}

// Expects errors of reading and writing, and an unchanged file.
void expect_refused(const TempFolder& folder, const std::string& name, const std::string& part) {
    const std::string before = bytes_of(folder / name);
    expect_no_output(folder / name, ExitCode::wrong_data, part);
    expect_error([&] { ResultFile(folder / name).runs(); }, ExitCode::wrong_data, part);
    expect_error([&] { ResultFile(folder / name).read("x"); }, ExitCode::wrong_data, part);
    EXPECT_TRUE(bytes_of(folder / name) == before);
    EXPECT_EQ(folder.names(), std::vector<std::string>{name});
}

TEST(Output, IsNoFolderNorDevice) {
    const TempFolder folder;
    expect_no_output(folder.path(), ExitCode::usage, "is a folder");
    expect_no_output(folder / "", ExitCode::usage, "names a folder");
    expect_no_output("/dev/full", ExitCode::usage, "/dev/full is a device");
    EXPECT_FALSE(fs::exists("/dev/full.lock"));
}

TEST(Output, NeedsAPathThatCanBe) {
    const TempFolder folder;
    write_bytes(folder / "file", "x");
    expect_no_output(folder / "file/r.h5", ExitCode::usage, "Not a directory");
    expect_no_output(folder / std::string(300, 'n'), ExitCode::usage, "File name too long");
}

TEST(Reading, NeedsAFile) {
    const TempFolder folder;
    expect_error([&] { ResultFile(folder / "r.h5").runs(); }, ExitCode::usage,
                 "there is no results file");
    expect_error([&] { ResultFile(folder.path()).runs(); }, ExitCode::usage, "is a folder");
    ResultFile(folder / "r.h5").append(sample_run());
    for (const char* id : {"", "x", ".", "..", "a/b", "/runs"})
        expect_error([&] { ResultFile(folder / "r.h5").read(id); }, ExitCode::usage, "has no run");
}

TEST(ForeignFile, IsRefused) {
    const TempFolder folder;
    write_bytes(folder / "text", "run,median\n1,2\n");
    expect_refused(folder, "text", "this is not an HDF5 file");
}

TEST(EmptyFile, IsRefused) {
    const TempFolder folder;
    write_bytes(folder / "empty", "");
    expect_refused(folder, "empty", "this is not an HDF5 file");
}

TEST(TruncatedFile, IsRefusedWhereverItWasCut) {
    const TempFolder whole;
    ResultFile(whole / "r.h5").append(sample_run());
    const std::string bytes = bytes_of(whole / "r.h5");
    for (std::size_t size = bytes.size() - 1; size > 100; size = size * 2 / 3) {
        const TempFolder folder;
        write_bytes(folder / "cut", bytes.substr(0, size));
        expect_refused(folder, "cut", "damaged or cut short");
    }
}

TEST(OtherHdf5File, IsRefused) {
    const TempFolder folder;
    hdf5::File::create(folder / "h5").close();
    expect_refused(folder, "h5", "no ranklab_schema attribute");
}

TEST(OtherSchema, IsRefusedNamingBoth) {
    const TempFolder folder;
    {
        hdf5::File file = hdf5::File::create(folder / "h5");
        file.root().set_int("ranklab_schema", 7);
        file.close();
    }
    expect_refused(folder, "h5", "results schema 7 and this ranklab reads and writes schema 1");
}

TEST(LinkedFile, IsNotFollowed) {
    const TempFolder folder;
    ResultFile(folder / "other").append(sample_run("x"));
    hdf5::File file = hdf5::File::create(folder / "r.h5");
    file.root().set_int("ranklab_schema", 1);
    H5Lcreate_external((folder / "other").c_str(), "/runs", file.root().id(), "runs", H5P_DEFAULT,
                       H5P_DEFAULT);
    file.close();
    expect_error([&] { ResultFile(folder / "r.h5").runs(); }, ExitCode::wrong_data,
                 "is an external link");
    expect_error([&] { ResultFile(folder / "r.h5").append(sample_run("y")); }, ExitCode::wrong_data,
                 "is an external link");
}

// Limits files to `bytes`, like a full disk. Ignores the signal, as the programs do.
void limit_file_size(rlim_t bytes) {
    const rlimit limit{bytes, bytes};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    ::signal(SIGXFSZ, SIG_IGN);
}

TEST(FullDisk, IsNoticedBeforeTheWorkAndHarmsNothing) {
    const TempFolder folder;
    const fs::path path = folder / "r.h5";
    ResultFile(path).append(sample_run());
    const std::string before = bytes_of(path);
    const int code = in_child([&] {
        limit_file_size(100000);
        expect_no_output(path, ExitCode::environment, "no room for it");
        expect_no_output(folder / "new.h5", ExitCode::environment, "no room for it");
        return testing::Test::HasFailure() ? 1 : 0;
    });
    EXPECT_EQ(code, 0);
    EXPECT_TRUE(bytes_of(path) == before);
    EXPECT_EQ(folder.names(), std::vector<std::string>{"r.h5"});
}

constexpr int kCannotMount = 77;

// Mounts a tmpfs on `folder` that only this process sees.
bool mount_privately(const fs::path& folder, unsigned long flags, const char* options) {
    return ::unshare(CLONE_NEWNS) == 0 &&
           ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
           ::mount("none", folder.c_str(), "tmpfs", flags, options) == 0;
}

TEST(FullDisk, OfRealBlocksHarmsNothing) {
    const TempFolder folder;
    const int code = in_child([&] {
        if (!mount_privately(folder.path(), 0, "size=900k")) return kCannotMount;
        ResultFile(folder / "r.h5").append(sample_run("first"));
        const std::string before = bytes_of(folder / "r.h5");
        write_bytes(folder / "filler", std::string(800000, 'x'));
        expect_no_output(folder / "r.h5", ExitCode::environment, "no room for it");
        EXPECT_TRUE(bytes_of(folder / "r.h5") == before);
        EXPECT_EQ(folder.names(), (std::vector<std::string>{"filler", "r.h5"}));
        fs::remove(folder / "filler");
        ResultFile(folder / "r.h5").append(sample_run("second"));
        return testing::Test::HasFailure() ? 1 : 0;
    });
    if (code == kCannotMount) GTEST_SKIP() << "no right to mount a small file system";
    EXPECT_EQ(code, 0);
}

TEST(ReadOnlyPlace, IsNamed) {
    const TempFolder folder;
    const int code = in_child([&] {
        if (!mount_privately(folder.path(), 0, "size=900k")) return kCannotMount;
        ResultFile(folder / "r.h5").append(sample_run());
        if (::mount("none", folder.path().c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, nullptr) != 0)
            return kCannotMount;
        expect_no_output(folder / "r.h5", ExitCode::environment, "read-only");
        expect_no_output(folder / "new.h5", ExitCode::environment, "read-only");
        expect_no_output(folder / "sub/new.h5", ExitCode::environment, "read-only");
        EXPECT_EQ(ResultFile(folder / "r.h5").runs().size(), 1U);  // reading needs no lock
        return testing::Test::HasFailure() ? 1 : 0;
    });
    if (code == kCannotMount) GTEST_SKIP() << "no right to mount a small file system";
    EXPECT_EQ(code, 0);
}

TEST(ForbiddenPlace, IsNamed) {
    const TempFolder folder;
    const int code = in_child([&] {
        fs::permissions(folder.path(), fs::perms(0555));
        if (::geteuid() == 0 && ::seteuid(65534) != 0) return kCannotMount;
        expect_no_output(folder / "r.h5", ExitCode::environment, "no permission");
        expect_no_output(folder / "sub/r.h5", ExitCode::environment, "no permission");
        return testing::Test::HasFailure() ? 1 : 0;
    });
    fs::permissions(folder.path(), fs::perms(0755));
    if (code == kCannotMount) GTEST_SKIP() << "root cannot become another user here";
    EXPECT_EQ(code, 0);
}

TEST(WriteProtectedFile, IsNotReplaced) {
    const TempFolder folder;
    ResultFile(folder / "r.h5").append(sample_run("first"));
    const int code = in_child([&] {
        fs::permissions(folder.path(), fs::perms(0777));
        fs::permissions(folder / "r.h5", fs::perms(0444));
        if (::geteuid() == 0 && ::seteuid(65534) != 0) return kCannotMount;
        expect_no_output(folder / "r.h5", ExitCode::environment, "no permission");
        EXPECT_EQ(ResultFile(folder / "r.h5").runs().size(), 1U);
        return testing::Test::HasFailure() ? 1 : 0;
    });
    if (code == kCannotMount) GTEST_SKIP() << "root cannot become another user here";
    EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace ranklab::results
