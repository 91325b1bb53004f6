#include <fmt/format.h>

#include <cstring>

#include "base/error.hpp"
#include "comm/backend.hpp"
#include "comm/exchange.hpp"

namespace ranklab::comm {
namespace {

void copy(const BufferView& from, const BufferView& to) {
    need_host(from, "self");
    need_host(to, "self");
    if (from.bytes() != 0) std::memmove(to.data, from.data, from.bytes());
}

// One rank without an MPI library.
class SelfCommunicator final : public Communicator {
  public:
    int rank() const override { return 0; }
    int world_size() const override { return 1; }
    int local_rank() const override { return 0; }
    int local_size() const override { return 1; }

    void barrier() override {}
    void broadcast(BufferView buffer, int root) override {
        need_host(buffer, "self");
        if (root != 0)
            throw base::Error(fmt::format("internal: a broadcast from rank {} of one rank", root));
    }
    void allreduce(BufferView buffer, ReduceOp) override { need_host(buffer, "self"); }
    Request start_allreduce(BufferView buffer, ReduceOp op) override {
        allreduce(buffer, op);
        return {};
    }
    void allgather(BufferView send, BufferView receive) override {
        need_whole_of_parts(send, receive, 1, "allgather");
        copy(send, receive);
    }
    void reduce_scatter(BufferView send, BufferView receive, ReduceOp) override {
        need_whole_of_parts(receive, send, 1, "reduce_scatter");
        copy(send, receive);
    }
    std::unique_ptr<Communicator> split(int, int) override {
        return std::make_unique<SelfCommunicator>();
    }
};

// Copies, or does nothing in place.
class SelfPrepared final : public Prepared {
  public:
    explicit SelfPrepared(const Transfer& transfer) : transfer_(transfer) {}
    void run() override {
        if (!transfer_.in_place()) copy(transfer_.send, transfer_.receive);
    }
    Request start() override {
        run();
        return {};
    }
    BufferView result() const override { return transfer_.receive; }

  private:
    Transfer transfer_;
};

std::unique_ptr<Prepared> prepare_self(Communicator&, const Transfer& transfer) {
    need_host(transfer.send, "self");
    need_host(transfer.receive, "self");
    return std::make_unique<SelfPrepared>(transfer);
}

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
            .prepare = prepare_self,
            .offers = has_form};
}

}  // namespace ranklab::comm
