#include "comm/by_root.hpp"

#include <mpi.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/text.hpp"
#include "comm/backends/mpi_communicator.hpp"
#include "comm/counts.hpp"
#include "comm/mpi_check.hpp"

namespace ranklab::comm {

void gather(Communicator& communicator, const BufferView& mine, const BufferView& all, int root) {
    need_host<base::Error>(mine, "host");
    const bool is_root = communicator.rank() == root;
    if (is_root) need_whole_of_parts(mine, all, communicator.world_size(), "gather");
    if (const auto* mpi = dynamic_cast<const MpiCommunicator*>(&communicator)) {
        const int count = mpi_count(mine.count);
        const MPI_Datatype type = mpi_type(mine.dtype);
        mpi_done(MPI_Gather(mine.data, count, type, all.data, count, type, root, mpi->native()),
                 "MPI_Gather");
        return;
    }
    const auto ranks = static_cast<std::size_t>(communicator.world_size());
    std::vector<char> parts(mine.bytes() * ranks);
    communicator.allgather(mine, {parts.data(), mine.count * ranks, mine.dtype, Memory::host});
    if (is_root && !parts.empty()) std::memcpy(all.data, parts.data(), parts.size());
}

void gather_to_all(Communicator& communicator, const BufferView& mine, const BufferView& all) {
    gather(communicator, mine, all, 0);
    communicator.broadcast(all, 0);
}

void reduce_to_all(Communicator& communicator, const BufferView& buffer, ReduceOp op) {
    need_host<base::Error>(buffer, "host");
    const auto* mpi = dynamic_cast<const MpiCommunicator*>(&communicator);
    if (mpi == nullptr) return communicator.allreduce(buffer, op);
    {
        const bool is_root = mpi->rank() == 0;
        mpi_done(MPI_Reduce(is_root ? MPI_IN_PLACE : buffer.data, is_root ? buffer.data : nullptr,
                            mpi_count(buffer.count), mpi_type(buffer.dtype), mpi->mpi_op(buffer.dtype, op), 0,
                            mpi->native()),
                 "MPI_Reduce");
    }
    communicator.broadcast(buffer, 0);
}

std::vector<std::string> texts_at(Communicator& communicator, const std::string& mine, int root) {
    // Each behind its length, in as many bytes as the longest takes.
    std::int64_t width = std::ssize(mine);
    const std::int64_t length = width;
    reduce_to_all(communicator, view(std::span(&width, 1)), ReduceOp::max);
    std::vector<char> padded(sizeof length + static_cast<std::size_t>(width));
    std::memcpy(padded.data(), &length, sizeof length);
    std::ranges::copy(mine, padded.begin() + sizeof length);
    const bool is_root = communicator.rank() == root;
    const auto ranks = static_cast<std::size_t>(communicator.world_size());
    std::vector<char> all(is_root ? padded.size() * ranks : 0);
    gather(communicator, view(std::span(padded)), view(std::span(all)), root);
    std::vector<std::string> texts;
    for (std::size_t begin = 0; begin < all.size(); begin += padded.size()) {
        std::int64_t size = 0;
        std::memcpy(&size, all.data() + begin, sizeof size);
        texts.emplace_back(all.data() + begin + sizeof size, static_cast<std::size_t>(size));
    }
    return texts;
}

bool is_same_everywhere(Communicator& communicator, const std::string& mine) {
    // The least is what the most of the complement is the complement of.
    const auto hash = static_cast<std::int64_t>(base::fingerprint(mine));
    std::int64_t most[] = {hash, ~hash};
    reduce_to_all(communicator, view(std::span(most)), ReduceOp::max);
    return most[0] == ~most[1];
}

}  // namespace ranklab::comm
