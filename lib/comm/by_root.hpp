// Collectives by way of one rank, in host memory: up a tree and down again. An allgather or an allreduce
// takes rounds in each of which all wait for all, which is shortest where each rank has a core of its own,
// and takes several times as long where many share one. For what is said once, at a job's start and end;
// never measured.
#pragma once

#include <string>
#include <vector>

#include "comm/communicator.hpp"

namespace ranklab::comm {

/// On `root` all parts by rank, all.count = mine.count * world_size(); elsewhere `all` is not looked at.
void gather(Communicator& communicator, const BufferView& mine, const BufferView& all, int root);
/// The same on all ranks.
void gather_to_all(Communicator& communicator, const BufferView& mine, const BufferView& all);
/// Every rank's text, by rank, on `root`; empty elsewhere.
std::vector<std::string> texts_at(Communicator& communicator, const std::string& mine, int root);
/// In place; all ranks get the same.
void reduce_to_all(Communicator& communicator, const BufferView& buffer, ReduceOp op);
/// Whether all ranks have the same text, by 64 bits of it: one small reduction, however long it is.
bool is_same_everywhere(Communicator& communicator, const std::string& mine);

}  // namespace ranklab::comm
