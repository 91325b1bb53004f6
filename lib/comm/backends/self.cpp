#include <cstring>

#include "base/error.hpp"
#include "comm/backend.hpp"
#include "comm/exchange.hpp"

namespace ranklab::comm {
namespace {

// One rank without an MPI library.
class SelfCommunicator final : public Communicator {
  public:
    int rank() const override { return 0; }
    int world_size() const override { return 1; }
    int local_rank() const override { return 0; }
    int local_size() const override { return 1; }

    void barrier() override {}
    // Copies, or does nothing in place.
    Request start(const Transfer& transfer) override {
        need_host(transfer.send, "self");
        need_host(transfer.receive, "self");
        if (!transfer.in_place() && transfer.send.count > 0)
            std::memmove(transfer.receive.data, transfer.send.data, transfer.send.bytes());
        return {};
    }
    std::unique_ptr<Communicator> split(int, int) override {
        return std::make_unique<SelfCommunicator>();
    }
};

std::string refusal(const Communicator& control) {
    return control.world_size() == 1 ? "" : "backend 'self' serves one rank; use another backend";
}

}  // namespace

std::unique_ptr<Communicator> make_self() {
    return std::make_unique<SelfCommunicator>();
}

BackendEntry self_entry() {
    return {.name = "self",
            .summary = "one rank, without a library",
            .memory = Memory::host,
            .one_rank_alone = true,
            .refuses = refusal,
            .make = [](Communicator& control) -> std::unique_ptr<Communicator> {
                if (const auto why = refusal(control); !why.empty())
                    throw_on_all<base::OptionError>(control, 0, why, {"backend mpi"});
                return make_self();
            },
            .library = [] { return std::string("ranklab"); },
            .offers = has_form};
}

}  // namespace ranklab::comm
