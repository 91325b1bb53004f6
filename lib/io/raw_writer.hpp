// What a ceiling is measured with: the bare system calls of a file per record, and memcpy, of one writer: a
// rank, or a worker process beside others.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

#include "base/io_times.hpp"
#include "base/pinned.hpp"
#include "base/share.hpp"
#include "io/large_pages.hpp"

namespace ranklab::io {

struct RawShare {
    std::filesystem::path directory;
    base::Share records;                 ///< this writer's
    std::uint64_t bytes_per_record = 0;  ///< the size of each write()
    bool fsync = false;                  ///< after each record
    int beside = 1;                      ///< writers on this node, this one among them
};

/// `amount` (bytes; files of a ceiling of creation) took `seconds`: of several writers the slowest's.
struct Ceiling {
    double amount = 0;
    double seconds = 0;

    bool known() const { return amount > 0 && seconds > 0; }
    double per_second() const { return known() ? amount / seconds : 0; }
};

/// DIRECTORY/.ranklab-ceiling-42: what record 42 is while a ceiling is measured.
std::filesystem::path raw_path(const std::filesystem::path& directory, std::int64_t id);
/// Removes such files of the records, whatever there is of them. Says nothing.
void remove_raw(const std::filesystem::path& directory, const base::Share& records) noexcept;

class RawWriter : base::Pinned {
  public:
    /// What is left of a killed run is removed, and a record's bytes are made. EnvironmentError, OptionError.
    explicit RawWriter(RawShare share);
    /// Removes its files.
    ~RawWriter();

    /// Two buffers that are larger than this writer's share of the last cache, and touched.
    void prepare_copy();
    /// As many bytes as the records have, at most 1 GiB, from one to the other. The buffers are gone then.
    Ceiling copy();
    /// Each record as RecordWriter does it: open, one write(), fsync, close, marked as those phases.
    /// `between` is called about every MiB and may throw.
    base::IoTimes write(const std::function<void()>& between);

  private:
    RawShare share_;
    base::IoTimes times_;
    Bytes record_;
    Bytes from_, to_;
    std::uint64_t passes_ = 0;
};

/// The two that a writer's phases are held against: write and fsync; open and close.
double writing_s(const base::IoTimes& times);
double creating_s(const base::IoTimes& times);

/// Calls `beat` where about a MiB has been written since, or a record with `each`: small ones would be slowed
/// down by more.
class Pauses {
  public:
    Pauses(std::uint64_t bytes_per_record, bool each, const std::function<void()>& beat);
    void after_record() {
        if (++records_ % every_ == 0 && beat_) beat_();
    }

  private:
    std::int64_t every_;
    std::int64_t records_ = 0;
    const std::function<void()>& beat_;
};

}  // namespace ranklab::io
