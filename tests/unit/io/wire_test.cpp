// Messages between a process strategy and its workers, whole and in pieces.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <numeric>
#include <string>
#include <string_view>
#include <thread>

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "io/meshgrids.hpp"
#include "io/wire.hpp"
#include "thrown_sentence.hpp"

namespace ranklab::tests {
namespace {

using io::MessageType;
using io::Outgoing;

class Wire : public testing::Test {
  protected:
    Wire() {
        int ends[2];
        if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
            throw std::runtime_error("socketpair");
        parent.reset(ends[0]);
        worker.reset(ends[1]);
    }
    void say(std::string_view bytes) const {
        ASSERT_EQ(::send(worker.get(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
    }

    base::Descriptor parent;
    base::Descriptor worker;
    io::Inbox inbox;
};

TEST_F(Wire, AMessageOfSeveralPartsArrivesWhole) {
    const io::TaskBody task{.files = 6, .id = 5};
    const std::string_view grid = "of numbers";
    Outgoing message(MessageType::task, {io::bytes_of(task), std::as_bytes(std::span(grid))});
    EXPECT_EQ(message.bytes(), 16 + sizeof task + grid.size());
    ASSERT_EQ(message.send(worker.get(), true), Outgoing::State::sent);
    EXPECT_TRUE(inbox.fill(parent.get()));
    const auto got = inbox.next();
    ASSERT_TRUE(got);
    EXPECT_EQ(got->type, MessageType::task);
    EXPECT_EQ(io::body_of<io::TaskBody>(got->body).id, 5);
    EXPECT_EQ(inbox.bytes(), static_cast<std::int64_t>(message.bytes()));
    EXPECT_FALSE(inbox.next());
}

TEST_F(Wire, TwoMessagesAtOnceAndTheEnd) {
    const io::ProgressBody progress{.records = 3};
    for (int i = 0; i < 2; ++i)
        Outgoing(MessageType::progress, {io::bytes_of(progress)}).send(worker.get(), true);
    worker.reset();
    EXPECT_TRUE(inbox.fill(parent.get())) << "something came";
    EXPECT_FALSE(inbox.fill(parent.get())) << "the other end is gone";
    EXPECT_TRUE(inbox.next());
    EXPECT_TRUE(inbox.next());
    EXPECT_FALSE(inbox.next());
}

TEST_F(Wire, AMessageByteByByte) {
    const io::ProgressBody progress{.records = 3};
    Outgoing(MessageType::progress, {io::bytes_of(progress)}).send(worker.get(), true);
    std::string bytes(16 + sizeof progress, '\0');
    ASSERT_TRUE(io::receive_all(parent.get(), std::as_writable_bytes(std::span(bytes))));
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        EXPECT_FALSE(inbox.next()) << i;
        say(std::string_view(bytes).substr(i, 1));
        EXPECT_TRUE(inbox.fill(parent.get()));
    }
    const auto got = inbox.next();
    ASSERT_TRUE(got);
    EXPECT_EQ(io::body_of<io::ProgressBody>(got->body).records, 3);
}

TEST_F(Wire, ALargeMessageBlocksAndGoesOn) {
    std::vector<double> values(300 * 300);
    std::iota(values.begin(), values.end(), 0.0);
    Outgoing message(MessageType::task, {std::as_bytes(std::span(values)), std::as_bytes(std::span(values))});
    EXPECT_EQ(message.send(parent.get(), false), Outgoing::State::blocked);
    std::vector<double> got(2 * values.size());
    std::thread reader([&] {
        const auto header = io::receive_header(worker.get());
        ASSERT_TRUE(header);
        EXPECT_EQ(header->bytes, 16 * values.size());
        EXPECT_TRUE(io::receive_all(worker.get(), std::as_writable_bytes(std::span(got))));
    });
    EXPECT_EQ(message.send(parent.get(), true), Outgoing::State::sent);
    reader.join();
    EXPECT_TRUE(std::equal(values.begin(), values.end(), got.begin()));
    EXPECT_TRUE(
        std::equal(values.begin(), values.end(), got.begin() + static_cast<std::ptrdiff_t>(values.size())));
}

TEST_F(Wire, NobodyAtTheOtherEnd) {
    worker.reset();
    Outgoing message(MessageType::ready, {});
    EXPECT_EQ(message.send(parent.get(), true), Outgoing::State::gone);
    EXPECT_FALSE(io::receive_header(parent.get()));
}

TEST_F(Wire, GarbageIsSeenBeforeItIsWhole) {
    say("R");
    inbox.fill(parent.get());
    EXPECT_FALSE(inbox.next());
    say("x");
    inbox.fill(parent.get());
    thrown_sentence<base::EnvironmentError>([&] { inbox.next(); });
}

TEST_F(Wire, ABodyThatIsTooLongOrTooShort) {
    const std::vector<std::byte> body(100 * 1024);
    Outgoing(MessageType::progress, {std::span(body)}).send(worker.get(), true);
    inbox.fill(parent.get());
    thrown_sentence<base::EnvironmentError>([&] { inbox.next(); });
    thrown_sentence<base::EnvironmentError>([&] { io::body_of<io::ReportBody>(std::span(body).first(8)); });
}

TEST(Meshgrids, GiveFillRecordsVeryBits) {
    for (const std::int64_t size : {1, 2, 37}) {
        const io::Meshgrids grids(size);
        std::vector<double> values(static_cast<std::size_t>(size * size));
        std::vector<double> expected(values.size());
        io::fill_from_meshgrid(grids.x, grids.y, 7, 3, values);
        io::fill_record(io::Grid(size), io::Order::by_y, 7, 3, 0, size, expected);
        EXPECT_EQ(values, expected);
    }
}

}  // namespace
}  // namespace ranklab::tests
