// The MPI backend: communicator, requests and checks. Private to comm, since it includes mpi.h.
#pragma once

#include <mpi.h>

#include <array>
#include <functional>
#include <memory>
#include <vector>

#include "base/handle.hpp"
#include "comm/communicator.hpp"

namespace ranklab::comm {

/// Throws base::Error with the call and MPI's text unless rc is MPI_SUCCESS.
void mpi_check(int rc, const char* call);
/// mpi_check() for a call that waits for other ranks; tells the watchdog that the job goes on.
void mpi_done(int rc, const char* call);

MPI_Datatype mpi_type(DType dtype);
/// Throws base::Error if the count exceeds MPI's int.
int mpi_count(std::size_t count);

/// MPI requests of one operation; `finish` is called once all are complete.
class MpiRequest final : public Request::State, base::Immovable {
  public:
    explicit MpiRequest(
        std::vector<MPI_Request> requests, std::function<void()> finish = [] {});
    ~MpiRequest() override;
    void wait() override;
    bool test() override;

  private:
    void end();

    std::vector<MPI_Request> requests_;
    std::function<void()> finish_;
};

/// Reductions of 16-bit floating-point numbers, which MPI lacks; their bits travel as MPI_UINT16_T.
class MpiOwnOps : base::Immovable {
  public:
    /// Made after MPI_Init, freed before MPI_Finalize with the last communicator that shares it.
    MpiOwnOps();
    ~MpiOwnOps();

    /// Returns one of these operations for 16-bit floating-point types, otherwise MPI's own.
    MPI_Op op(DType dtype, ReduceOp op) const;

  private:
    std::array<MPI_Op, 6> ops_{};  // sum, min, max of f16, then of bf16
};

class MpiCommunicator final : public Communicator, base::Immovable {
  public:
    /// Takes over `comm`, which has all ranks of the job. All communicators of a job share
    /// `own_ops`.
    MpiCommunicator(MPI_Comm comm, std::shared_ptr<const MpiOwnOps> own_ops);
    ~MpiCommunicator() override;

    int rank() const override { return rank_; }
    int world_size() const override { return world_size_; }
    int local_rank() const override { return local_rank_; }
    int local_size() const override { return local_size_; }

    void barrier() override;
    void run(const Transfer& transfer) override;
    Request start(const Transfer& transfer) override;
    std::unique_ptr<Communicator> split(int color, int key) override;

    const MPI_Comm& native() const { return comm_; }
    MPI_Op mpi_op(DType dtype, ReduceOp op) const { return own_ops_->op(dtype, op); }

  private:
    // Takes over `comm`, a part of `whole`, and this rank's node from `whole`.
    MpiCommunicator(MPI_Comm comm, const MpiCommunicator& whole);
    void begin();

    MPI_Comm comm_;
    std::shared_ptr<const MpiOwnOps> own_ops_;
    int rank_ = 0;
    int world_size_ = 1;
    int local_rank_ = 0;
    int local_size_ = 1;
    int node_ = 0;  // the lowest rank of the job on this node
};

}  // namespace ranklab::comm
