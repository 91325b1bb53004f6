// Streams, events and memory on a real GPU.
#include <gtest/gtest.h>

#include <numeric>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "device/gpus.hpp"

namespace ranklab::device {
namespace {

class OnGpu : public ::testing::Test {
  protected:
    void SetUp() override {
        const auto list = list_gpus();
        if (list.gpus.empty()) GTEST_SKIP() << list.why_none;
        select_gpu(0);
    }
};

std::vector<int> numbers(std::size_t count) {
    std::vector<int> all(count);
    std::iota(all.begin(), all.end(), 1);
    return all;
}

TEST_F(OnGpu, EachIsKnownByItsIdentity) {
    for (const auto& gpu : list_gpus().gpus) {
        EXPECT_EQ(gpu.uuid.size(), std::string("GPU-00000000-0000-0000-0000-000000000000").size());
        EXPECT_FALSE(gpu.pci_id.empty() || gpu.name.empty());
        EXPECT_GT(gpu.memory_bytes, 0);
    }
}

TEST_F(OnGpu, OneThatIsNotThereIsRefused) {
    EXPECT_THROW(select_gpu(4096), base::EnvironmentError);
}

TEST_F(OnGpu, WhatIsCopiedThereComesBack) {
    const auto sent = numbers(100003);
    const std::size_t bytes = sent.size() * sizeof(int);
    const Stream stream;
    const Buffer buffer(bytes);
    copy_to_device(buffer.data(), sent.data(), bytes, stream.get());
    std::vector<int> back(sent.size());
    std::vector<int> zeros(sent.size(), 1);
    copy_to_host(back.data(), buffer.data(), bytes, stream.get());
    fill_zero(buffer.data(), bytes, stream.get());
    copy_to_host(zeros.data(), buffer.data(), bytes, stream.get());
    synchronize(stream.get());
    EXPECT_EQ(back, sent);
    EXPECT_EQ(zeros, std::vector<int>(sent.size(), 0));
}

TEST_F(OnGpu, AnEventOrdersTwoStreams) {
    const auto sent = numbers(1 << 20);
    const std::size_t bytes = sent.size() * sizeof(int);
    const Stream writer;
    const Stream reader;
    const Buffer buffer(bytes);
    Event written;
    std::vector<int> back(sent.size());
    copy_to_device(buffer.data(), sent.data(), bytes, writer.get());
    written.record(writer.get());
    wait_on(reader.get(), written);
    copy_to_host(back.data(), buffer.data(), bytes, reader.get());
    synchronize(reader.get());
    EXPECT_TRUE(written.done()) << "the reader came after it";
    EXPECT_EQ(back, sent);
}

TEST_F(OnGpu, TimingEventsMeasureAStream) {
    const Stream stream;
    constexpr std::size_t kBytes = std::size_t{64} << 20U;
    const Buffer buffer(kBytes);
    Event start(Event::Kind::timing);
    Event stop(Event::Kind::timing);
    start.record(stream.get());
    fill_zero(buffer.data(), kBytes, stream.get());
    stop.record(stream.get());
    synchronize(stream.get());
    EXPECT_TRUE(start.done() && stop.done());
    EXPECT_GT(stop.seconds_since(start), 0);
    EXPECT_THROW(stop.seconds_since(Event()), base::EnvironmentError) << "one that cannot be timed";
}

TEST_F(OnGpu, HandlesMove) {
    Buffer first(1024);
    void* const place = first.data();
    const Buffer second(std::move(first));
    EXPECT_EQ(second.data(), place);
    EXPECT_EQ(first.data(), nullptr);
    EXPECT_EQ(Buffer(0).data(), nullptr);
}

}  // namespace
}  // namespace ranklab::device
