// What the strategies share that write a file per record. Private to this room and its tests.
#pragma once

#include "io/kernel.hpp"
#include "io/record_files.hpp"
#include "io/strategy.hpp"

namespace ranklab::io {

class FileStrategy : public Strategy {
  public:
    FileStrategy(const Job& job, const Place& place, Encoding encoding)
        : job_(job), place_(place), encoding_(encoding) {}

    void open() override {}
    void close() override {}
    std::unique_ptr<Reader> reader(base::IoTimes& times) const override;
    std::filesystem::path file_of(std::int64_t id) const override { return record_path(job_, encoding_, id); }

  protected:
    const Job& job() const { return job_; }
    const Place& place() const { return place_; }
    Encoding encoding() const { return encoding_; }

    /// Generates record `id`, vectorised and by_y, writes it and reports it done.
    void produce(std::int64_t id, const Grid& grid, RecordWriter& writer, Values& values) const;
    void end_record(base::IoTimes::Clock::time_point begin, const RecordWriter& writer) const;

  private:
    const Job& job_;
    Place place_;
    Encoding encoding_;
};

/// One process, a whole record at once.
class ArrayStrategy final : public FileStrategy {
  public:
    using FileStrategy::FileStrategy;
    void write() override;
};

std::int64_t text_bytes(std::int64_t size);
std::int64_t binary_bytes(std::int64_t size);

}  // namespace ranklab::io
