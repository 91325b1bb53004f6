#include <gmock/gmock.h>

#include "fake_root.hpp"
#include "host/findings.hpp"

namespace ranklab::host {
namespace {

using ::testing::HasSubstr;

class NetworkOfProcess : public FakeRoot {
  protected:
    void open(const std::string& number, const std::string& device) {
        const auto folder = root_.path() / "proc/self/fd";
        std::filesystem::create_directories(folder);
        std::filesystem::create_symlink(device, folder / number);
    }
    Network seen() const { return network_of_process(root_.path()); }
};

TEST_F(NetworkOfProcess, OfASystemWithoutOne) {
    EXPECT_EQ(seen().text(),
              "components loaded: none; devices opened: none; fast networks up: none");
}

TEST_F(NetworkOfProcess, IsWhatIsLoadedOpenedAndUp) {
    write("proc/self/maps",
          "7f00-7f10 r-xp 00000000 08:01 1 /usr/lib/openmpi/mca_pml_ob1.so\n"
          "7f00-7f10 r-xp 00000000 08:01 2 /usr/lib/openmpi/mca_btl_tcp.so\n"
          "7f10-7f20 rw-p 00000000 08:01 2 /usr/lib/openmpi/mca_btl_tcp.so\n"
          "7f00-7f10 r-xp 00000000 08:01 3 /usr/lib/openmpi/mca_btl_self.so\n"
          "7f00-7f10 r-xp 00000000 08:01 4 /opt/ucx/libuct_ib.so.0.0.0\n"
          "7f00-7f10 r-xp 00000000 08:01 5 /opt/ofi/libcxi-fi.so\n"
          "7f00-7f10 r-xp 00000000 08:01 6 /opt/libnccl-net.so\n"
          "7f00-7f10 rw-p 00000000 00:00 0\n");
    write("sys/class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE\n");
    write("sys/class/infiniband/mlx5_1/ports/1/state", "1: DOWN\n");
    write("sys/class/cxi/cxi0/uevent", "");
    open("0", "/dev/null");
    open("7", "/dev/infiniband/uverbs0");
    const auto network = seen();
    EXPECT_EQ(network.components, "NCCL plug-in, UCX ib, btl tcp, pml ob1, provider cxi");
    EXPECT_EQ(network.opened, "/dev/infiniband/uverbs0");
    EXPECT_EQ(network.up, "cxi0, mlx5_0");
}

CheckState verdict_on(std::vector<Network> networks) {
    const Evidence evidence{.networks = std::move(networks)};
    for (const auto& check : check_all(evidence))
        if (check.id == "network-by-sockets") {
            if (check.verdict == CheckState::found) {
                EXPECT_THAT(check.finding.sentence(),
                            HasSubstr("mlx5_0 is up, and MPI has not opened it"));
                EXPECT_FALSE(check.finding.fatal);
            }
            return check.verdict;
        }
    ADD_FAILURE();
    return CheckState::unknown;
}

TEST(NetworkBySockets, OfSeveralHostsWithAnIdleNetwork) {
    const auto rank = [](const char* host, const char* opened, bool up) {
        return Network{host, "btl tcp", opened, up ? "mlx5_0" : ""};
    };
    EXPECT_EQ(verdict_on({}), CheckState::unknown);
    EXPECT_EQ(verdict_on({rank("n1", "", true), rank("n1", "", true)}), CheckState::ok);
    EXPECT_EQ(verdict_on({rank("n1", "", true), rank("n2", "", true)}), CheckState::found);
    EXPECT_EQ(verdict_on({rank("n1", "", false), rank("n2", "", false)}), CheckState::ok);
    EXPECT_EQ(verdict_on({rank("n1", "/dev/infiniband/uverbs0", true),
                          rank("n2", "/dev/infiniband/uverbs0", true)}),
              CheckState::ok);
}

}  // namespace
}  // namespace ranklab::host
