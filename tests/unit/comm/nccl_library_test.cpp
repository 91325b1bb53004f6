// NCCL without a GPU: finding the library, and error messages.
#ifdef RANKLAB_OLD_NCCL  // in a build with NCCL
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>

#include "base/error.hpp"
#include "comm/nccl/nccl_communicator.hpp"
#include "device/gpus.hpp"
#include "temp_folder.hpp"
#include "thrown_sentence.hpp"

namespace ranklab::comm {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using tests::thrown_sentence;

std::function<const char*(const char*)> variables(const std::map<std::string, std::string>& set) {
    return [set](const char* name) -> const char* {
        const auto found = set.find(name);
        return found == set.end() ? nullptr : found->second.c_str();
    };
}

TEST(NcclLibrary, IsLookedForWhereTheUserSaysAlone) {
    EXPECT_THAT(nccl_search_path(variables({{"RANKLAB_NCCL_LIBRARY", "/mine/libnccl.so.2"}})),
                ElementsAre("/mine/libnccl.so.2"));
    const auto paths = nccl_search_path(variables({{"RANKLAB_NCCL_LIBRARY", ""}}));
    ASSERT_FALSE(paths.empty());
    EXPECT_EQ(paths.back(), "libnccl.so.2") << "the loader's own search comes last";
    auto with_torch = paths;
    with_torch.insert(with_torch.end() - 1, "/p/torch/../nvidia/nccl/lib/libnccl.so.2");
    EXPECT_EQ(nccl_search_path(variables({{"RANKLAB_TORCH_ROOT", "/p/torch"}})), with_torch)
        << "the one beside LibTorch, which an archive is told of at run time";
}

TEST(NcclLibrary, AMissingOneIsAnErrorOfTheEnvironmentThatNamesAllPlaces) {
    const auto load = [] { load_nccl({"/no/such/libnccl.so.2", "libno-such-nccl.so.9"}); };
    EXPECT_THAT(thrown_sentence<base::EnvironmentError>(load),
                AllOf(HasSubstr("/no/such/libnccl.so.2"), HasSubstr("libno-such-nccl.so.9"),
                      HasSubstr("RANKLAB_NCCL_LIBRARY"), HasSubstr("--backend mpi")));
}

TEST(NcclLibrary, AFileThatIsNoLibraryIsRefused) {
    const tests::TempFolder folder;
    const auto path = (folder.path() / "libnccl.so.2").string();
    std::ofstream(path) << "not ELF";
    EXPECT_THAT(thrown_sentence<base::EnvironmentError>([&] { load_nccl({path}); }),
                HasSubstr(path));
}

TEST(NcclLibrary, ALibraryWithoutNcclsFunctionsIsRefused) {
    EXPECT_THAT(thrown_sentence<base::EnvironmentError>([] { load_nccl({"libm.so.6"}); }),
                AllOf(HasSubstr("libm.so.6"), HasSubstr("2.18.1")));
}

TEST(NcclLibrary, OneThatIsTooOldIsRefused) {
    EXPECT_THAT(thrown_sentence<base::EnvironmentError>([] { load_nccl({RANKLAB_OLD_NCCL}); }),
                AllOf(HasSubstr("2.17.5"), HasSubstr("2.18.1"), HasSubstr("RANKLAB_NCCL_LIBRARY")));
}

// The first library that can be loaded is taken: this node may lack the one of the build.
TEST(NcclLibrary, TheFirstThatIsThereIsTaken) {
    EXPECT_THAT(thrown_sentence<base::EnvironmentError>([] {
                    load_nccl({"/no/such/libnccl.so.2", RANKLAB_OLD_NCCL, "libnccl.so.2"});
                }),
                HasSubstr("2.17.5"));
}

TEST(NcclLibrary, VersionsAreReadInBothOfItsSpellings) {
    EXPECT_EQ(nccl_version_text(22809), "2.28.9");
    EXPECT_EQ(nccl_version_text(21801), "2.18.1");
    EXPECT_EQ(nccl_version_text(2708), "2.7.8");
}

TEST(NcclErrors, SayTheCallTheReasonAndWhatToDo) {
    EXPECT_THAT(
        nccl_sentence("ncclAllReduce", ncclRemoteError, "remote process exited", "peer\x01 gone\n"),
        AllOf(HasSubstr("ncclAllReduce"), HasSubstr("remote process exited (peer? gone)")));
    EXPECT_THAT(nccl_sentence("ncclCommInitRankConfig", ncclSystemError, "system error", ""),
                AllOf(HasSubstr("system error"), HasSubstr("NCCL_SOCKET_IFNAME")));
    EXPECT_THAT(nccl_sentence("ncclAllReduce", ncclUnhandledCudaError, "x", ""),
                HasSubstr("nvidia-smi"));
    EXPECT_THAT(nccl_sentence("ncclAllReduce", ncclInternalError, "x", ""),
                HasSubstr("NCCL_DEBUG=WARN"));
}

TEST(NcclTypes, AreTheSameOnBothSides) {
    const std::map<DType, ncclDataType_t> types{
        {DType::u8, ncclUint8},     {DType::i32, ncclInt32},   {DType::i64, ncclInt64},
        {DType::f32, ncclFloat32},  {DType::f64, ncclFloat64}, {DType::f16, ncclFloat16},
        {DType::bf16, ncclBfloat16}};
    for (const auto& [ours, theirs] : types) EXPECT_EQ(nccl_type(ours), theirs);
    EXPECT_EQ(nccl_op(ReduceOp::sum), ncclSum);
    EXPECT_EQ(nccl_op(ReduceOp::min), ncclMin);
    EXPECT_EQ(nccl_op(ReduceOp::max), ncclMax);
}

// Fake NCCL functions: how their return codes are handled.
std::shared_ptr<NcclLibrary> fake_library() {
    auto fake = std::make_shared<NcclLibrary>();
    fake->get_error_string = [](ncclResult_t) { return "the reason"; };
    fake->get_last_error = [](ncclComm_t) { return "its account"; };
    return fake;
}
ncclComm_t some_comm() {
    static int place = 0;
    return reinterpret_cast<ncclComm_t>(&place);
}

TEST(NcclConnecting, WaitsForACommunicatorThatIsUnderWay) {
    const auto fake = fake_library();
    fake->init_rank = [](ncclComm_t* comm, int, ncclUniqueId, int, ncclConfig_t*) {
        *comm = some_comm();
        return ncclInProgress;
    };
    fake->get_async_error = [](ncclComm_t, ncclResult_t* state) {
        static int asked = 0;
        *state = ++asked < 3 ? ncclInProgress : ncclSuccess;
        return ncclSuccess;
    };
    EXPECT_EQ(init_nccl_rank(*fake, {}, 0, 2), some_comm());
}

TEST(NcclConnecting, SaysWhyItFailed) {
    const auto fake = fake_library();
    fake->init_rank = [](ncclComm_t*, int, ncclUniqueId, int, ncclConfig_t*) {
        return ncclSystemError;
    };
    EXPECT_THAT(thrown_sentence<base::NcclError>([&] { init_nccl_rank(*fake, {}, 0, 2); }),
                AllOf(HasSubstr("ncclCommInitRankConfig"), HasSubstr("the reason (its account)")));
}

// With the real library, if this machine has one.
class RealNccl : public ::testing::Test {
  protected:
    void SetUp() override {
        setenv("NCCL_SOCKET_IFNAME", "lo",
               0);  // a unique id opens a socket: this machine's own will do
        try {
            library_ = load_nccl();
        } catch (const base::EnvironmentError& error) {
            GTEST_SKIP() << error.what();
        }
    }
    std::shared_ptr<const NcclLibrary> library_;
};

TEST_F(RealNccl, IsLoadedAndTellsItsVersion) {
    EXPECT_GE(library_->version, NCCL_VERSION(2, 18, 1)) << library_->path;
    EXPECT_EQ(library_->version / 10000, NCCL_MAJOR) << library_->path;
}

TEST_F(RealNccl, KnowsAUniqueIdWithoutAGpu) {
    ncclUniqueId first{};
    ncclUniqueId second{};
    library_->check(library_->get_unique_id(&first), "ncclGetUniqueId");
    library_->check(library_->get_unique_id(&second), "ncclGetUniqueId");
    EXPECT_NE(std::string(first.internal, sizeof first.internal),
              std::string(second.internal, sizeof second.internal));
}

TEST_F(RealNccl, WithoutAGpuConnectingIsACleanError) {
    if (!device::list_gpus().gpus.empty()) GTEST_SKIP() << "this machine has a GPU";
    ncclUniqueId id{};
    library_->check(library_->get_unique_id(&id), "ncclGetUniqueId");
    EXPECT_THAT(thrown_sentence<base::NcclError>([&] { init_nccl_rank(*library_, id, 0, 1); }),
                AllOf(HasSubstr("ncclCommInitRankConfig"), HasSubstr("nvidia-smi")));
}

}  // namespace
}  // namespace ranklab::comm
#endif
