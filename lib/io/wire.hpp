// What a process strategy and its worker processes say to each other over a stream socket each: messages of a
// header and a body, plain bytes of this machine, since both ends are of one build on one node. The queue
// itself carries bare ids (8 bytes, a packet each).
#pragma once

#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "base/io_times.hpp"
#include "base/pinned.hpp"
#include "io/job.hpp"

namespace ranklab::io {

/// Where a worker finds its channel and, in a queue, the ids.
inline constexpr int kChannelDescriptor = 3;
inline constexpr int kQueueDescriptor = 4;

/// raw: writes its share of a ceiling's files when it is told to.
enum class WorkerKind : std::uint32_t { pool, queue, raw };

/// Down: start (StartBody), task (TaskBody, X, Y), copy and write (to a raw worker). Up: ready, answer
/// (ReportBody of one task), progress (ProgressBody), copied (Ceiling), finished (ReportBody of all), failed
/// (base::Failure).
enum class MessageType : std::uint32_t {
    start = 1,
    ready,
    task,
    answer,
    progress,
    finished,
    failed,
    copy,
    copied,
    write
};

struct MessageHeader {
    std::uint32_t magic = 0;
    MessageType type = MessageType::start;
    std::uint64_t bytes = 0;  ///< of the body
};
struct StartBody {
    WorkerKind kind = WorkerKind::pool;
    int number = 0;                  ///< of this worker, from 0
    std::uint64_t record_bytes = 0;  ///< of a raw worker's records
    JobNumbers job;
    std::string directory;

    static auto fields(auto& self) {
        return std::tie(self.kind, self.number, self.record_bytes, self.job, self.directory);
    }
};
struct TaskBody {
    std::int64_t files = 0;  ///< n
    std::int64_t id = 0;     ///< t
};
struct ReportBody {
    std::int64_t id = -1;  ///< of the task; of finished -1
    std::int64_t records = 0;
    std::int64_t queue_bytes = 0;  ///< that this worker took from the queue
    double wait_s = 0;             ///< until there was a task, and all of it
    base::IoTimes times;
};
struct ProgressBody {
    std::int64_t records = 0;  ///< since the last message
};
static_assert(std::is_trivially_copyable_v<ReportBody>, "a report travels as its bytes");

/// A message on its way out. Its parts must outlive it.
class Outgoing : base::Pinned {
  public:
    enum class State { sent, blocked, gone };

    Outgoing(MessageType type, std::initializer_list<std::span<const std::byte>> parts);

    /// Goes on sending. blocked: the socket is full, and `wait` is false. gone: the other end is closed.
    State send(int socket, bool wait);
    std::size_t bytes() const { return sizeof header_ + header_.bytes; }

  private:
    MessageHeader header_;
    std::array<iovec, 4> parts_{};
    std::size_t first_ = 0;
    std::size_t count_ = 0;
};

/// Waits for all of `to`; false where the other end is gone.
bool receive_all(int socket, std::span<std::byte> to);
/// Waits for a header; nullopt where the other end is gone. EnvironmentError where it is none.
std::optional<MessageHeader> receive_header(int socket);

struct Message {
    MessageType type = MessageType::ready;
    std::vector<std::byte> body;
};

/// What has come from a worker, without ever waiting for the rest of a message.
class Inbox {
  public:
    /// Takes what there is; false where that is nothing because the other end is gone.
    bool fill(int socket);
    /// The next whole message. EnvironmentError where what came is none.
    std::optional<Message> next();
    std::int64_t bytes() const { return bytes_; }  ///< of all messages that next() gave

  private:
    std::vector<std::byte> buffer_;
    std::int64_t bytes_ = 0;
};

[[noreturn]] void throw_no_message();

template <class Body>
std::span<const std::byte> bytes_of(const Body& body) {
    static_assert(std::is_trivially_copyable_v<Body>);
    return std::as_bytes(std::span(&body, 1));
}

/// The body at the front of `bytes`. EnvironmentError where there is less.
template <class Body>
Body body_of(std::span<const std::byte> bytes) {
    static_assert(std::is_trivially_copyable_v<Body>);
    if (bytes.size() < sizeof(Body)) throw_no_message();
    Body body;
    std::memcpy(&body, bytes.data(), sizeof body);
    return body;
}

}  // namespace ranklab::io
