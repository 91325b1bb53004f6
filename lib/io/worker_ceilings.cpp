// The ceilings of strategies whose worker processes write at the same time: by as many of them.
#include <algorithm>

#include "base/cast.hpp"
#include "base/pinned.hpp"
#include "io/ceilings.hpp"
#include "io/worker_processes.hpp"

namespace ranklab::io {
namespace {

// What a killed worker left, or one that is ended early, too.
class Removal : base::Pinned {
  public:
    explicit Removal(const CeilingWork& work) : work_(work) {}
    ~Removal() { remove_raw(work_.directory, {0, work_.records}); }

  private:
    const CeilingWork& work_;
};

// More than there are records would only watch.
Job job_of(const CeilingWork& work) {
    Job job;
    job.files = work.records;
    job.directory = work.directory;
    job.workers = static_cast<int>(std::min<std::int64_t>(work.workers, work.records));
    job.worker_program = work.worker_program;
    job.fsync = work.fsync;
    return job;
}

class WorkerMeasurement {
  public:
    explicit WorkerMeasurement(const CeilingWork& work)
        : work_(work),
          job_(job_of(work)),
          removal_(work),
          workers_(job_, WorkerKind::raw, unused_, work.bytes_per_record) {}

    Ceilings all() {
        Ceilings found;
        workers_.start();
        if (work_.memory_copy && work_.bytes_per_record > 0) found.memory_copy = memory_copy();
        own_files(found);
        workers_.end();
        return found;
    }

  private:
    void tell_all(MessageType what) {
        for (int i = 0; i < job_.workers; ++i) {
            Outgoing message(what, {});
            workers_.tell(i, message);
        }
    }
    // One answer of each worker: take(said). What is only progress is told on.
    template <class Take>
    void hear_all(Take take) {
        for (int left = job_.workers; left > 0;) {
            const auto said = workers_.hear();
            if (work_.between && (!said || said->message.type == MessageType::progress)) work_.between();
            if (!said || said->message.type == MessageType::progress) continue;
            take(*said);
            --left;
        }
    }

    // Twice: to make the buffers, and, when all have them, to begin.
    Ceiling memory_copy() {
        tell_all(MessageType::copy);
        hear_all([&](const auto& said) { workers_.expect(said, MessageType::ready); });
        tell_all(MessageType::copy);
        Ceiling all;
        hear_all([&](const auto& said) {
            const auto one = workers_.template body<Ceiling>(said, MessageType::copied);
            all = {all.amount + one.amount, std::max(all.seconds, one.seconds)};
        });
        return all;
    }

    void own_files(Ceilings& found) {
        tell_all(MessageType::write);
        const double records = base::real(work_.records);
        found.create.amount = records;
        found.write_own.amount = records * base::real(work_.bytes_per_record);
        hear_all([&](const auto& said) {
            const auto one = workers_.template body<ReportBody>(said, MessageType::finished);
            found.create.seconds = std::max(found.create.seconds, creating_s(one.times));
            found.write_own.seconds = std::max(found.write_own.seconds, writing_s(one.times));
        });
    }

    const CeilingWork& work_;
    Job job_;
    base::IoTimes unused_;
    Removal removal_;  // after the workers are gone
    WorkerProcesses workers_;
};

}  // namespace

Ceilings measure_by_workers(const CeilingWork& work) {
    return WorkerMeasurement(work).all();
}

}  // namespace ranklab::io
