// On which device a thread works for a replica, and what travels between devices: without one, by a
// double of LibTorch's way to them.
#include "train/replica_places.hpp"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <atomic>
#include <thread>

#include "train/tensor_view.hpp"

namespace ranklab::train {
namespace {

using Tensors = std::vector<torch::Tensor>;

/// Four GPUs that are none. As the driver's, the selected one and the current streams are each
/// thread's own.
class FourGpus final : public c10::impl::DeviceGuardImplInterface {
  public:
    c10::DeviceType type() const override { return torch::kCUDA; }
    c10::Device exchangeDevice(c10::Device d) const override {
        const auto before = getDevice();
        setDevice(d);
        return before;
    }
    c10::Device getDevice() const override { return {torch::kCUDA, selected}; }
    void setDevice(c10::Device d) const override { selected = d.index(); }
    void uncheckedSetDevice(c10::Device d) const noexcept override { selected = d.index(); }
    c10::Stream getStream(c10::Device d) const override {
        return c10::Stream(c10::Stream::UNSAFE, d, current.at(static_cast<std::size_t>(d.index())));
    }
    c10::Stream getStreamFromGlobalPool(c10::Device d, bool) const override {
        return c10::Stream(c10::Stream::UNSAFE, d, ++made);
    }
    c10::Stream exchangeStream(c10::Stream s) const override {
        auto& id = current.at(static_cast<std::size_t>(s.device_index()));
        return c10::Stream(c10::Stream::UNSAFE, s.device(), std::exchange(id, s.id()));
    }
    c10::DeviceIndex deviceCount() const noexcept override { return 4; }

    static thread_local c10::DeviceIndex selected;
    static thread_local std::array<c10::StreamId, 4> current;
    mutable std::atomic<c10::StreamId> made = 100;
};
thread_local c10::DeviceIndex FourGpus::selected = 0;
thread_local std::array<c10::StreamId, 4> FourGpus::current{};

std::vector<torch::Device> gpus(int count) {
    std::vector<torch::Device> devices;
    for (int i = 0; i < count; ++i)
        devices.emplace_back(torch::kCUDA, static_cast<c10::DeviceIndex>(i));
    return devices;
}

TEST(ReplicaPlaces, EachGpuHasOneStreamForAllThreads) {
    const FourGpus guard;
    FourGpus::current = {7, 0, 0, 0};  // replica 0 computes where its maker does
    {
        const ReplicaPlaces places(gpus(3), &guard);
        EXPECT_TRUE(places.on_gpus());
        const std::array<c10::StreamId, 4> streams{7, 101, 102, 0};
        EXPECT_EQ(FourGpus::current, streams) << "the maker copies to and from all of them";
        EXPECT_EQ(FourGpus::selected, 0) << "and stays on its own";
        for (std::size_t replica = 0; replica < 3; ++replica) {
            std::thread([&] {
                places.enter(replica);
                EXPECT_EQ(FourGpus::selected, static_cast<int>(replica));
                EXPECT_EQ(FourGpus::current, streams) << "of replica " << replica;
            }).join();
        }
    }
    EXPECT_EQ(FourGpus::current, (std::array<c10::StreamId, 4>{7, 0, 0, 0})) << "given back";
}

TEST(ReplicaPlaces, OneGpuIsUsedAsItIs) {
    const FourGpus guard;
    FourGpus::current = {5, 0, 0, 0};
    const ReplicaPlaces places(gpus(1), &guard);
    EXPECT_EQ(guard.made, 100) << "no stream is made";
    EXPECT_EQ(FourGpus::current[0], 5);
}

TEST(ReplicaPlaces, OnTheCpuThereIsNothingToDo) {
    const ReplicaPlaces places({torch::kCPU, torch::kCPU});
    EXPECT_FALSE(places.on_gpus());
    places.enter(1);
}

// ---- what travels

/// Two types, a scalar, other strides, and sizes around the pieces' limit.
Tensors assorted(std::uint64_t seed) {
    torch::manual_seed(seed);
    return {torch::randn({300}),
            torch::randn({3, 5, 7, 2}).contiguous(torch::MemoryFormat::ChannelsLast),
            torch::full({}, static_cast<std::int64_t>(seed), torch::kLong),
            torch::randn({1}),
            torch::randn({70, 11}),
            torch::full({4}, static_cast<std::int64_t>(seed), torch::kLong),
            torch::randn({6, 4}).t()};
}

TEST(Pieces, AreFewAndComeBackWhereTheyBelong) {
    const auto from = assorted(3);
    EXPECT_EQ(flattened_pieces(from).size(), 2U) << "one a type";
    for (const std::int64_t bytes : {1, 64, 1000, 1 << 20}) {
        const auto pieces = flattened_pieces(from, bytes);
        auto copied = assorted(4);
        copy_pieces(pieces, copied, bytes);
        auto added = assorted(4);
        const auto before = assorted(4);
        add_pieces(pieces, added, bytes);
        for (std::size_t i = 0; i < from.size(); ++i) {
            EXPECT_TRUE(torch::equal(copied[i], from[i])) << bytes << " bytes, tensor " << i;
            EXPECT_EQ(copied[i].strides(), before[i].strides());
            EXPECT_TRUE(torch::equal(added[i], before[i] + from[i]))
                << bytes << " bytes, tensor " << i;
        }
    }
    EXPECT_TRUE(flattened_pieces({}).empty());
}

TEST(Pieces, ParametersTakeThemWithoutAGradient) {
    const Tensors parameters{torch::zeros({3}).requires_grad_(),
                             torch::zeros({2, 2}).requires_grad_()};
    copy_pieces(flattened_pieces({torch::ones({3}), torch::ones({2, 2})}), parameters);
    EXPECT_EQ(parameters[0].sum().item<float>(), 3);
    EXPECT_TRUE(parameters[0].is_leaf() && !parameters[0].grad().defined());
}

/// Three replicas' parameters with gradients, of which one or no replica has some, and one has
/// other strides.
std::vector<Tensors> replicas_with_gradients() {
    torch::manual_seed(5);
    std::vector<Tensors> parameters(3);
    for (std::size_t r = 0; r < 3; ++r) {
        for (const auto& shape :
             std::vector<std::vector<std::int64_t>>{{7000}, {1}, {11}, {13}, {4, 6}})
            parameters[r].push_back(torch::zeros(shape).requires_grad_());
        for (auto& parameter : parameters[r])
            parameter.mutable_grad() = torch::randn_like(parameter);
        if (r != 1) parameters[r][2].mutable_grad().reset();
        parameters[r][3].mutable_grad().reset();
    }
    parameters[2][4].mutable_grad() = torch::randn({6, 4}).t();
    return parameters;
}

TEST(SumGradients, InPiecesAreTheSame) {
    for (const std::int64_t bytes : {64, 1 << 20}) {
        const auto together = replicas_with_gradients();
        sum_gradients(together, bytes);
        const auto one_by_one = replicas_with_gradients();
        sum_gradients(one_by_one);
        for (std::size_t i = 0; i < together[0].size(); ++i) {
            const auto ours = together[0][i].grad();
            const auto theirs = one_by_one[0][i].grad();
            ASSERT_EQ(ours.defined(), theirs.defined()) << "parameter " << i;
            EXPECT_TRUE(!ours.defined() || torch::equal(ours, theirs)) << "parameter " << i;
        }
    }
}

}  // namespace
}  // namespace ranklab::train
