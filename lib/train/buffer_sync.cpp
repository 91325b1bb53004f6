#include "train/buffer_sync.hpp"

#include <map>

#include "train/tensor_view.hpp"

namespace ranklab::train {

BufferSync::BufferSync(const nn::Model& model, comm::Communicator& comm) : comm_(comm) {
    std::map<torch::Dtype, Group> by_type;
    for (const auto& buffer : model.buffers()) by_type[buffer.scalar_type()].buffers.push_back(buffer);
    for (auto& [type, group] : by_type) groups_.push_back(std::move(group));
}

void BufferSync::broadcast() {
    const torch::NoGradGuard no_gradients;
    for (auto& group : groups_) {
        std::vector<torch::Tensor> rows;
        for (const auto& buffer : group.buffers) rows.push_back(buffer.reshape({-1}));
        group.flat = torch::cat(rows);
        comm_.broadcast(view_of(group.flat), 0);
        std::int64_t begin = 0;
        for (auto& buffer : group.buffers) {
            buffer.copy_(group.flat.narrow(0, begin, buffer.numel()).view_as(buffer));
            begin += buffer.numel();
        }
    }
}

}  // namespace ranklab::train
