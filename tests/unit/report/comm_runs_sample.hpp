// Made-up runs of `ranklab comm`.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "results/run.hpp"

namespace ranklab::report {

struct CommSample {
    std::string op = "allreduce", dtype = "fp32", redop = "sum", level = "job", mark = "";
    bool in_place = true;  ///< whether it was timed in place, too
    std::int64_t ranks = 2, wrong = 0;
    double factor = 1;  ///< busbw / algbw
    double alpha_us = 2, GBps = 4;
};

/// The time of a call: alpha + S / bandwidth, 10 % more in place.
inline double sample_time_us(const CommSample& sample, double bytes, bool in_place) {
    return (in_place ? 1.1 : 1) * (sample.alpha_us + bytes / sample.GBps / 1e3);
}

inline void add_message(results::Rows& rows, const CommSample& sample, std::int64_t bytes,
                        bool in_place) {
    const double us = sample_time_us(sample, static_cast<double>(bytes), in_place);
    const double algbw = static_cast<double>(bytes) / us / 1e3;
    rows.add({sample.op,
              sample.level,
              sample.dtype,
              sample.redop,
              std::int64_t{-1},
              std::string(in_place ? "in-place" : "out-of-place"),
              sample.ranks,
              bytes,
              bytes / 4,
              std::int64_t{50},
              us,
              1.05 * us,
              us,
              1.5 * us,
              2 * us,
              0.95 * us,
              1.05 * us,
              0.9 * us,
              2.5 * us,
              12.5,
              algbw,
              sample.ranks > 1 ? sample.factor * algbw : std::nan(""),
              sample.wrong,
              sample.mark});
}

inline results::Table sample_fits(const std::vector<CommSample>& samples) {
    results::Rows rows("fits");
    for (const auto& one : samples)
        for (const bool in_place : {false, true})
            if (!in_place || one.in_place)
                rows.add({one.op, one.level, one.dtype, one.redop,
                          std::string(in_place ? "in-place" : "out-of-place"), std::int64_t{4},
                          one.alpha_us, 0.9 * one.alpha_us, 1.1 * one.alpha_us, one.GBps,
                          0.95 * one.GBps, 1.05 * one.GBps, 1e3 * one.alpha_us * one.GBps, 12.0,
                          std::string()});
    return std::move(rows).table();
}

inline results::Measurement comm_measurement(const std::string& name, const std::string& unit,
                                             results::Kind kind, double median) {
    results::Measurement m{name, unit, kind, "max", "call", 1, {}, {}, {}};
    for (int i = 0; i < 10; ++i) m.samples.push_back(median * (0.955 + 0.01 * i));
    m.summary = stats::summarise(m.samples);
    return m;
}

/// With messages of 8 B, 1 KiB, 64 KiB and 4 MiB.
inline results::Run comm_run(const std::vector<CommSample>& samples = {{}},
                             const std::string& id = "20261124T101500Z-c0ffee") {
    results::Run run;
    run.id = id;
    run.command = "comm";
    run.argv = "ranklab comm";
    run.started_utc = "2026-11-24T10:15:00Z";
    run.version = "0.1.0";
    run.config = {{"op", samples.front().op},
                  {"datatype", samples.front().dtype},
                  {"redop", samples.front().redop},
                  {"backend", "mpi"},
                  {"memory", "pageable"},
                  {"min-bytes", "8", true},
                  {"max-bytes", "4194304", true},
                  {"step-factor", "2", true},
                  {"warmup", "5", true},
                  {"repetitions", "50", true},
                  {"check", "1", true},
                  {"unalign", "0", true},
                  {"per-iter", "false"}};
    run.context = {{"collectives", "policy", "a barrier between two calls, outside the time"},
                   {"collectives", "average", "the longest of the ranks' times"},
                   {"collectives", "timer_resolution_ns", "25"},
                   {"collectives", "barrier_exit_skew_us", "0.4"},
                   {"collectives", "library", "Open MPI 4.1.4"},
                   {"collectives", "headline",
                    samples.front().op + ":" + samples.front().dtype + ":" + samples.front().redop +
                        ":4194304"}};
    for (std::int64_t rank = 0; rank < samples.front().ranks; ++rank)
        run.hosts.push_back({static_cast<int>(rank), static_cast<int>(rank), "node01",
                             std::to_string(rank), "cpu", 1, std::to_string(rank)});
    results::Rows messages("messages");
    for (const auto& one : samples) {
        for (const std::int64_t bytes : {8, 1024, 65536, 4194304}) {
            add_message(messages, one, bytes, false);
            if (one.in_place) add_message(messages, one, bytes, true);
            run.measurements.push_back(comm_measurement(
                "time_us:" + one.op + ":" + one.dtype + ":" + one.redop + ":" +
                    std::to_string(bytes),
                "us", results::Kind::cost, sample_time_us(one, static_cast<double>(bytes), false)));
        }
    }
    const double us = sample_time_us(samples.front(), 4194304, false);
    run.measurements.push_back(comm_measurement("time_us", "us", results::Kind::cost, us));
    run.measurements.push_back(
        comm_measurement("algbw_GBps", "GB/s", results::Kind::rate, 4194.304 / us));
    if (samples.front().ranks > 1)
        run.measurements.push_back(comm_measurement("busbw_GBps", "GB/s", results::Kind::rate,
                                                    samples.front().factor * 4194.304 / us));
    run.tables.push_back(std::move(messages).table());
    run.tables.push_back(sample_fits(samples));
    run.tables.push_back({"verification",
                          {{"check", std::vector<std::string>{"every element of the results"}},
                           {"result", std::vector<std::string>{"passed"}},
                           {"detail", std::vector<std::string>{""}}}});
    return run;
}

/// Buckets of --from-model, in bytes.
inline results::Table sample_buckets(const std::vector<std::int64_t>& sizes, double GBps = 4) {
    results::Rows rows("buckets");
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        const double us = static_cast<double>(sizes[i]) / GBps / 1e3;
        rows.add({static_cast<std::int64_t>(i), std::int64_t{3}, sizes[i] / 4, std::string("fp32"),
                  sizes[i], us, 0.9 * us, 1.1 * us, GBps, GBps, std::int64_t{0}});
    }
    return std::move(rows).table();
}

}  // namespace ranklab::report
