// A communicator that can skip its communication, for timing a step's compute alone.
#pragma once

#include <memory>

#include "comm/communicator.hpp"

namespace ranklab::comm {

/// Forwards to `real`, which must outlive it. While silent, operations return at once and leave the
/// buffers unchanged, so that the step's arithmetic stays the same. All ranks must switch together,
/// with no operation under way.
class SilentCommunicator final : public Communicator {
  public:
    explicit SilentCommunicator(Communicator& real) : real_(real) {}
    void silence(bool on) { silent_ = on; }

    int rank() const override { return real_.rank(); }
    int world_size() const override { return real_.world_size(); }
    int local_rank() const override { return real_.local_rank(); }
    int local_size() const override { return real_.local_size(); }

    void barrier() override {
        if (!silent_) real_.barrier();
    }
    void run(const Transfer& transfer) override {
        if (!silent_) real_.run(transfer);
    }
    Request start(const Transfer& transfer) override {
        return silent_ ? Request() : real_.start(transfer);
    }
    BufferView result_of(const Transfer& transfer) const override {
        return real_.result_of(transfer);
    }
    std::unique_ptr<Communicator> split(int color, int key) override {
        return real_.split(color, key);
    }
    void synchronize() override { real_.synchronize(); }

  private:
    Communicator& real_;
    bool silent_ = false;
};

}  // namespace ranklab::comm
