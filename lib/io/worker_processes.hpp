// The worker processes of a process strategy, as their parent sees them: started clean by exec (a fork after
// MPI_Init would share MPI's memory and sockets), spoken to through a pipe each (a stream socket, see
// wire.hpp), and watched. However a worker ends that was not asked to, the next call says so: an
// EnvironmentError that names the worker, its process and the signal or exit code; or the very kind of error
// that the worker met and told. Private to this room and its tests.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "base/io_times.hpp"
#include "io/job.hpp"
#include "io/wire.hpp"

namespace ranklab::io {

class WorkerProcesses {
  public:
    /// `times` gets send and wait; both outlive this. `record_bytes`: of a raw worker's records.
    WorkerProcesses(const Job& job, WorkerKind kind, base::IoTimes& times, std::uint64_t record_bytes = 0);
    /// Ends those that still live.
    ~WorkerProcesses();

    /// Starts job.workers of them and waits until each is ready. EnvironmentError where one cannot be.
    void start();

    struct Said {
        int worker = 0;
        Message message;
    };
    /// Waits until a worker says something. nullopt where a signal came first or, with `room_in_queue`, where
    /// the queue takes ids again. A worker that has said `finished` may end then.
    std::optional<Said> hear(bool room_in_queue = false);
    /// The body of what was said. EnvironmentError where that is of another type or too short.
    template <class Body>
    Body body(const Said& said, MessageType expected) const {
        need(said, expected, sizeof(Body));
        return body_of<Body>(said.message.body);
    }
    /// The same for what has no body.
    void expect(const Said& said, MessageType expected) const { need(said, expected, 0); }
    /// Sends all of it, while what others say is kept for hear().
    void tell(int worker, Outgoing& message);
    /// Puts an id in the queue that all workers share; false where it is full.
    bool offer(std::int64_t id);
    /// There will be no more ids.
    void close_queue() { queue_.reset(); }

    /// Tells them to go, and waits for each: all have exited with 0 afterwards, or it throws.
    void end();
    /// They finish the record at hand and go; who is not gone after two seconds is killed. Leaves no zombie.
    void abandon() noexcept;

    /// On the pipes between one worker and its parent, from when it was ready.
    struct Bytes {
        std::int64_t sent = 0;
        std::int64_t received = 0;
    };
    Bytes bytes(int worker) const;
    /// "worker 1 (process 4711)"
    std::string name(int worker) const;

  private:
    struct Worker {
        pid_t process = -1;  // -1: reaped
        base::Descriptor channel;
        Inbox inbox;
        bool silent = false;    // its end is closed
        bool finished = false;  // and may be
        std::int64_t sent = 0;
        std::int64_t received_before = 0;  // until it was ready
    };

    void need(const Said& said, MessageType type, std::size_t bytes) const;
    void introduce(int worker);
    void wait_until_ready();
    std::optional<Message> next_message_of(int worker);
    std::optional<Said> next_message();
    void look_for_the_dead();
    /// Fills the inboxes when there is something; false where a signal came. `watched` is one descriptor
    /// more.
    bool poll(int watched, bool& watched_has_room);
    /// Throws what its worker told before it ended, or how it ended.
    [[noreturn]] void throw_lost(int worker);
    void tell_all_to_go() noexcept;
    /// Waits for its end, by force after the deadline: waitpid's status, -1 by force.
    int reap(Worker& worker, base::IoTimes::Clock::time_point deadline) noexcept;

    const Job& job_;
    WorkerKind kind_;
    base::IoTimes& times_;
    std::uint64_t record_bytes_;
    base::Descriptor queue_;
    std::vector<Worker> workers_;
};

}  // namespace ranklab::io
