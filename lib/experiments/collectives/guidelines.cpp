#include "experiments/collectives/guidelines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <tuple>

#include "base/text.hpp"
#include "results/run.hpp"

namespace ranklab::experiments {
namespace {

using comm::Operation;

constexpr double kMatters = 1.1;

// Both sides have equal message sizes. The right side does at least the work of the left one.
struct Guideline {
    Operation left;
    std::vector<Operation> right;

    std::string text() const {
        std::vector<std::string> names;
        for (const auto operation : right) names.emplace_back(comm::name_of(operation));
        return fmt::format("{} <= {}", comm::name_of(left), base::join(names, " + "));
    }
};
const std::vector<Guideline>& guidelines() {
    static const std::vector<Guideline> all{
        {Operation::allreduce, {Operation::reduce, Operation::broadcast}},
        {Operation::allreduce, {Operation::reduce_scatter, Operation::allgather}},
        {Operation::reduce, {Operation::allreduce}},
        {Operation::broadcast, {Operation::allreduce}},
        {Operation::reduce_scatter, {Operation::allreduce}},
        {Operation::allgather, {Operation::alltoall}},
        {Operation::allgather, {Operation::allreduce}},
    };
    return all;
}

// Sums times and both ends of the intervals. nullopt if an operation was not timed at that size.
std::optional<Timed> sum_of(const std::vector<Operation>& operations, std::uint64_t bytes,
                            const TimedMessages& timed) {
    Timed sum{.us = 0, .ci = {0, 0}, .calls = std::numeric_limits<std::size_t>::max()};
    for (const auto operation : operations) {
        const auto found = timed.find({operation, bytes});
        if (found == timed.end()) return std::nullopt;
        const auto& [us, ci, calls] = found->second;
        sum = {
            sum.us + us, {sum.ci.low + ci.low, sum.ci.high + ci.high}, std::min(sum.calls, calls)};
    }
    return sum;
}

std::string verdict_of(const Timed& left, const Timed& right) {
    constexpr std::size_t kFewestCalls = 20;
    if (std::min(left.calls, right.calls) < kFewestCalls) return "cannot tell";
    if (left.ci.low > kMatters * right.ci.high) return "VIOLATED";
    return left.us <= right.us ? "holds" : "cannot tell";
}

// Among many comparisons some look violated by chance: of several sizes one counts only if a
// neighbour is violated, too.
void ignore_isolated_violations(std::span<GuidelineRow> rows) {
    if (rows.size() < 2) return;
    const auto broken = [&](std::size_t i) {
        return i < rows.size() && rows[i].ratio() > kMatters;
    };
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (rows[i].verdict == "VIOLATED" && !broken(i - 1) && !broken(i + 1))
            rows[i].verdict = "cannot tell";
}

// By level, load and type. Reductions by sum only; out of place if the operation has that form.
using Group = std::tuple<std::string, std::string, std::string>;
std::map<Group, TimedMessages> timed_of(const results::Run& run, const Sweep& sweep) {
    std::map<Group, TimedMessages> all;
    for (const auto& row : sweep.rows) {
        const auto& [operation, dtype, reduction, in_place, part] = row.message;
        if (row.us.empty() || row.ranks < 2 || (in_place && comm::has_form(operation, false)))
            continue;
        if (comm::reduces(operation) && (reduction.op != comm::ReduceOp::sum || reduction.average))
            continue;
        const auto s = summary_of(run, row);
        // Rounded down to equal parts per rank, so that operations compare at one size.
        const std::uint64_t parts = static_cast<std::uint64_t>(row.ranks) * comm::size_of(dtype);
        const std::uint64_t bytes = std::max(parts, row.message.bytes(row.ranks) / parts * parts);
        all[{row.level, row.load, dtype_of(row.message)}][{operation, bytes}] = {s.median, s.ci95,
                                                                                 s.n};
    }
    return all;
}

std::string warning_of(const std::vector<GuidelineRow>& broken, const std::string& library) {
    const auto& worst = *std::ranges::max_element(broken, {}, &GuidelineRow::ratio);
    return fmt::format(
        "{} guideline(s) violated (table guidelines), worst {} at {} by {:.2f} times: another "
        "algorithm of the library may be faster; try {}",
        broken.size(), worst.guideline, base::human_bytes(static_cast<double>(worst.bytes)),
        worst.ratio(), tuning_of(worst.left, library));
}

std::string upper(std::string_view name) {
    std::string text(name);
    for (char& c : text) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
    return text;
}

}  // namespace

std::vector<GuidelineRow> check_guidelines(const TimedMessages& timed) {
    std::set<std::uint64_t> sizes;
    for (const auto& [key, value] : timed) sizes.insert(key.second);
    std::vector<GuidelineRow> rows;
    for (const auto& guideline : guidelines()) {
        const std::size_t first = rows.size();
        for (const auto bytes : sizes) {
            const auto left = sum_of({guideline.left}, bytes, timed);
            const auto right = sum_of(guideline.right, bytes, timed);
            if (!left || !right) continue;
            rows.push_back({guideline.text(), guideline.left, bytes, left->us, right->us,
                            verdict_of(*left, *right)});
        }
        ignore_isolated_violations(std::span(rows).subspan(first));
    }
    return rows;
}

std::string tuning_of(Operation operation, const std::string& library) {
    const std::string_view name = operation == Operation::broadcast ? "bcast"
                                  : operation == Operation::reduce_scatter
                                      ? "reduce_scatter_block"
                                      : comm::name_of(operation);
    if (library.starts_with("Open MPI"))
        return fmt::format(
            "--mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_{}_algorithm N (ompi_info "
            "--param coll tuned --level 9 lists N)",
            name);
    if (library.starts_with("MPICH"))
        return fmt::format("MPIR_CVAR_{}_INTRA_ALGORITHM=NAME (mpivars lists NAME)", upper(name));
    if (library.starts_with("NCCL")) return "NCCL_ALGO and NCCL_PROTO";
    return "the library's choice of algorithm for it";
}

void add_guidelines(results::Run& run, const Sweep& sweep) {
    const std::string library = sweep.backend.library();
    results::Rows table("guidelines");
    std::vector<GuidelineRow> broken;
    for (const auto& [group, timed] : timed_of(run, sweep)) {
        const auto& [level, load, dtype] = group;
        for (const auto& row : check_guidelines(timed)) {
            const bool is_broken = row.verdict == "VIOLATED";
            table.add({row.guideline, level, load, dtype, static_cast<std::int64_t>(row.bytes),
                       row.left_us, row.right_us, row.ratio(), row.verdict,
                       is_broken ? tuning_of(row.left, library) : ""});
            if (is_broken) broken.push_back(row);
        }
    }
    if (table.size() == 0) return;
    run.tables.push_back(std::move(table).table());
    if (!broken.empty()) run.warnings.push_back(warning_of(broken, library));
}

}  // namespace ranklab::experiments
