#include "vocabulary/tables.hpp"

#include <algorithm>

namespace ranklab::vocabulary {
namespace {

constexpr Column number(std::string_view name) {
    return {name, ColumnType::number};
}
constexpr Column whole(std::string_view name) {
    return {name, ColumnType::whole};
}
constexpr Column text(std::string_view name) {
    return {name, ColumnType::text};
}

}  // namespace

const std::vector<TableSchema>& tables() {
    static const std::vector<TableSchema> all{
        {"verification", {text("check"), text("result"), text("detail")}},
        {"statistics",
         {text("name"), whole("n"), number("lag1"), number("effective_n"), text("method"),
          whole("outliers_low"), whole("outliers_high"), whole("warmup_fixed"),
          whole("warmup_detected")}},
        {"convergence",
         {whole("samples"), number("median_s"), number("low_s"), number("high_s"),
          number("half_width_percent"), number("target_percent"), number("effective_n"),
          text("method")}},
        {"phases",
         {text("phase"), whole("hits"), number("time_s"), number("per_hit_s"), number("percent")}},
        {"lines",
         {whole("line"), whole("hits"), number("time_s"), number("per_hit_s"), number("percent"),
          number("device_time_s"), text("contents")}},
        {"layers",
         {text("layer"), whole("calls"), number("forward_s"), number("backward_s"),
          number("percent"), number("gradient_ready_s"), whole("forward_flops"),
          number("forward_GFLOP_per_s"), number("flops_per_byte"), number("roof_percent"),
          whole("parameter_bytes"), whole("activation_bytes")}},
        {"operators",
         {text("operator"), whole("calls"), number("self_s"), number("total_s"),
          number("percent")}},
        {"epochs",
         {whole("epoch"), whole("steps"), whole("steps_per_epoch"), whole("samples"),
          number("time_s"), number("samples_per_s"), number("lr"), number("train_loss"),
          number("validation_loss"), number("validation_accuracy"), number("validation_time_s"),
          number("elapsed_s")}},
        {"communication",
         {whole("bucket"), whole("parameters"), whole("bytes"),
          number("ready_after_backward_began_s"), number("waiting_for_last_rank_s"),
          number("transfer_s")}},
        {"waiting",
         {whole("rank"), text("host"), number("waited_for_others_s"), number("came_last_share"),
          text("longest_excess_phase"), number("excess_s")}},
        {"job_use",
         {whole("rank"), text("host"), number("wall_s"), number("cpu_s"), whole("host_cpus"),
          whole("peak_rss_bytes"), whole("memory_asked_bytes"), number("process_s"),
          number("process_cpu_s")}},
        {"monitor",
         {number("time_s"), text("host"), whole("rank"), number("cpu_percent"),
          number("wait_percent"), number("threads"), number("rss_bytes"),
          number("page_faults_per_s"), number("read_MiB_per_s"), number("written_MiB_per_s"),
          number("sent_MiB_per_s"), number("received_MiB_per_s"), number("pressure_percent")}},
        {"gpu_monitor",
         {number("time_s"), text("host"), text("gpu"), text("name"), whole("rank"),
          number("busy_percent"), number("memory_bytes"), number("power_W"),
          number("temperature_C"), number("clock_MHz"), text("throttle"), number("energy_J")}},
        {"rank_summaries",
         {text("measurement"), whole("rank"), whole("n"), number("median"), number("mean"),
          number("min"), number("max")}},
        {"start_up", {text("part"), number("mean_s"), number("max_s"), whole("slowest_rank")}},
        {"ablation",
         {text("trial"), whole("trials"), whole("steps"), number("mean_samples_per_s"),
          number("std_samples_per_s"), number("step_time_s")}},
        {"waterfall",
         {text("part"), number("step_s"), number("percent"), number("samples_per_s"),
          number("lost_samples_per_s")}},
        {"ladder",
         {text("rung"),
          whole("ranks"),
          whole("workers"),
          whole("n"),
          number("job_time_s"),
          number("low_s"),
          number("high_s"),
          number("speedup"),
          number("over_previous"),
          number("write_MiBps"),
          number("files_per_s"),
          text("ceiling"),
          number("percent_of_ceiling"),
          text("verified"),
          text("mark"),
          number("read_MiBps"),
          text("cache"),
          text("fsync"),
          text("file_system"),
          text("directory"),
          number("file_bytes")}},
        {"io_phases",
         {text("phase"), whole("calls"), number("total_s"), number("per_call_s"),
          number("cumulative_s"), number("percent"), number("longest_s")}},
        {"calls",
         {text("strategy"), text("call"), whole("calls"), number("own_s"), number("own_per_call_s"),
          number("cumulative_s"), number("cumulative_per_call_s"), number("percent")}},
        // Phases in which no rank spent time have no column.
        {"io_ranks",
         {whole("rank"), number("records"), number("MiB"), number("job_s"), number("generate_s"),
          number("format_s"), number("send_s"), number("wait_s"), number("open_s"),
          number("write_s"), number("fsync_s"), number("close_s"), number("read_s"),
          number("parse_s"), number("first_open_s"), number("last_close_s")}},
        {"io_reads",
         {whole("repetition"), text("pass"), text("order"), number("read_s"), number("MiB"),
          number("MiB_per_s"), number("resident_percent"), number("block_layer_MiB"), text("cache"),
          text("file_system")}},
        {"ceilings",
         {text("ceiling"), number("value"), text("unit"), number("ceiling_s"), number("rung_s"),
          number("percent"), text("binds"), text("mark")}},
        {"tasks",
         {whole("worker"), whole("tasks"), number("bytes_sent_per_task"),
          number("bytes_received_per_task"), number("busy_s"), number("wait_s")}},
        {"chunks", {whole("rank"), whole("chunks"), whole("records"), whole("handed_bytes")}},
        {"hdf5_transfers",
         {text("requested"), text("actual_io_mode"), text("chunk_mode"),
          text("no_collective_cause"), whole("transfers")}},
        {"mpi_io", {text("key"), text("value")}},
        {"messages",
         {text("op"),           text("level"),        text("load"),         text("dtype"),
          text("redop"),        whole("root"),        text("place"),        whole("ranks"),
          whole("bytes"),       whole("elements"),    whole("n"),           number("time_us"),
          number("mean_us"),    number("p50_us"),     number("p95_us"),     number("p99_us"),
          number("low_us"),     number("high_us"),    number("min_us"),     number("max_us"),
          number("cv_percent"), number("algbw_GBps"), number("busbw_GBps"), whole("wrong_elements"),
          text("mark")}},
        {"nonblocking",
         {text("op"), text("level"), text("load"), text("dtype"), text("redop"), whole("ranks"),
          whole("bytes"), text("progress"), whole("n"), number("overall_us"), number("compute_us"),
          number("init_us"), number("test_us"), number("wait_us"), number("pure_us"),
          number("overlap_percent"), number("low_percent"), number("high_percent"), text("mark")}},
        {"fits",
         {text("op"), text("level"), text("load"), text("dtype"), text("redop"), text("place"),
          whole("points"), number("alpha_us"), number("alpha_low_us"), number("alpha_high_us"),
          number("bandwidth_GBps"), number("bandwidth_low_GBps"), number("bandwidth_high_GBps"),
          number("half_bytes"), number("worst_percent"), text("mark")}},
        {"guidelines",
         {text("guideline"), text("level"), text("load"), text("dtype"), whole("bytes"),
          number("left_us"), number("right_us"), number("ratio"), text("verdict"), text("tuning")}},
        {"clocks",
         {whole("rank"), text("host"), number("offset_us"), number("offset_error_us"),
          number("late_us"), number("came_last_share")}},
        {"buckets",
         {whole("bucket"), whole("parameters"), whole("elements"), text("dtype"), whole("bytes"),
          number("time_us"), number("low_us"), number("high_us"), number("algbw_GBps"),
          number("busbw_GBps"), whole("wrong_elements")}}};
    return all;
}

const TableSchema* find_table(std::string_view name) {
    const auto found = std::ranges::find(tables(), name, &TableSchema::name);
    return found == tables().end() ? nullptr : &*found;
}

}  // namespace ranklab::vocabulary
