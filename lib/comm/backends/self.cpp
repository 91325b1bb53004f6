#include <fmt/format.h>

#include <cstring>

#include "base/error.hpp"
#include "comm/backend.hpp"
#include "comm/counts.hpp"

namespace ranklab::comm {
namespace {

// One rank alone: every collective is a copy or nothing. The base case without an MPI library in the way.
class SelfCommunicator final : public Communicator {
  public:
    int rank() const override { return 0; }
    int world_size() const override { return 1; }
    int local_rank() const override { return 0; }
    int local_size() const override { return 1; }
    std::string backend() const override { return "self"; }

    void barrier() override {}
    void broadcast(BufferView, int root) override {
        if (root != 0) throw base::Error(fmt::format("internal: a broadcast from rank {} of one rank", root));
    }
    void allreduce(BufferView, ReduceOp) override {}
    Request start_allreduce(BufferView, ReduceOp) override { return {}; }
    void allgather(BufferView send, BufferView receive) override {
        need_whole_of_parts(send, receive, 1, "allgather");
        copy(send, receive);
    }
    void reduce_scatter(BufferView send, BufferView receive, ReduceOp) override {
        need_whole_of_parts(receive, send, 1, "reduce_scatter");
        copy(send, receive);
    }
    std::unique_ptr<Communicator> split(int, int) override { return std::make_unique<SelfCommunicator>(); }

  private:
    static void copy(const BufferView& from, const BufferView& to) {
        if (from.bytes() != 0) std::memmove(to.data, from.data, from.bytes());
    }
};

}  // namespace

BackendEntry self_entry() {
    return {.name = "self",
            .summary = "one rank alone, no library in the way",
            .memory = Memory::host,
            .refuses =
                [](const Communicator& control) {
                    return control.world_size() == 1
                               ? std::string()
                               : std::string("backend 'self' serves one rank; use --backend mpi");
                },
            .make = [](Communicator&) -> std::unique_ptr<Communicator> {
                return std::make_unique<SelfCommunicator>();
            }};
}

}  // namespace ranklab::comm
