// Base of the strategies that write a file per record. Private to lib/io and its tests.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "base/numbers.hpp"
#include "io/kernel.hpp"
#include "io/record_files.hpp"
#include "io/strategy.hpp"
#include "results/run.hpp"

namespace ranklab::io {

class FileStrategy : public Strategy {
  public:
    FileStrategy(const Job& job, const Place& place, Encoding encoding)
        : job_(job), place_(place), encoding_(encoding) {}

    void open() override {}
    void close() override {}
    std::unique_ptr<Reader> reader(base::IoTimes& times) const override {
        return std::make_unique<RecordReader>(job_, encoding_, times);
    }
    std::filesystem::path file_of(std::int64_t id) const override {
        return record_path(job_, encoding_, id);
    }

  protected:
    const Job& job() const { return job_; }
    const Place& place() const { return place_; }

    /// Generates and writes the records of each share that `next` returns, until a share is empty.
    void produce(const std::function<base::Share()>& next) const {
        const Grid grid(job_.size);
        RecordWriter writer(job_, encoding_, place_.times);
        for (base::Share share = next(); share.count > 0; share = next())
            for (std::int64_t id = share.first; id < share.end(); ++id) {
                writer.make(id, [&](std::span<double> values) { generate(grid, id, values); });
                place_.done(1);
            }
    }
    void produce(base::Share share) const {
        produce([&] { return std::exchange(share, {}); });
    }
    /// Computes the values of record `id`, here vectorised and in Order::by_y.
    virtual void generate(const Grid& grid, std::int64_t id, std::span<double> values) const {
        fill_record(grid, Order::by_y, job_.files, id, 0, job_.size, values);
    }

  private:
    const Job& job_;
    Place place_;
    Encoding encoding_;
};

/// Rank 0 writes, a whole record at a time.
class ArrayStrategy : public FileStrategy {
  public:
    using FileStrategy::FileStrategy;
    void write() override { produce({0, job().files}); }
};

/// The work that rank 0 assigned to one rank by messages.
struct AssignedWork {
    std::int64_t chunks = 0;  ///< not counting empty ones
    std::int64_t records = 0;
    std::int64_t bytes = 0;  ///< of the messages from rank 0
    void add(const base::Share& chunk, std::int64_t message_bytes) {
        chunks += chunk.count > 0 ? 1 : 0;
        records += chunk.count;
        bytes += message_bytes;
    }
};

inline results::Table chunk_table(const std::vector<AssignedWork>& by_rank) {
    results::Rows rows("chunks");
    for (const auto& assigned : by_rank)
        rows.add(
            {std::int64_t{std::ssize(rows)}, assigned.chunks, assigned.records, assigned.bytes});
    return std::move(rows).table();
}

}  // namespace ranklab::io
