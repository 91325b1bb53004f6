// A run of `ranklab comm` as nccl-tests prints it, for programs that read its output: the same
// columns at the same places; every line except rows begins with '#'.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "base/element.hpp"
#include "base/text.hpp"
#include "report/formats/formats.hpp"
#include "report/model/network.hpp"

namespace ranklab::report::formats {
namespace {

using model::Message;
using results::Run;

constexpr std::size_t kTime = 7, kRate = 6;  // columns of a time and of a rate in nccl-tests

// The value flush right in `width` columns with as many decimals as fit, at most two.
std::string in_width(double value, std::size_t width) {
    if (!std::isfinite(value)) return fmt::format("{:>{}}", "n/a", width);
    for (const int decimals : {2, 1, 0})
        if (auto text = fmt::format("{:{}.{}f}", value, width, decimals); text.size() <= width)
            return text;
    return fmt::format("{:{}.{}e}", value, width, width >= kTime ? 1 : 0);
}

// The head of the table, and of the columns that --per-iter adds on the right.
constexpr const char* kHead[] = {
    "#                                                              out-of-place              "
    "in-place",
    "#       size         count      type   redop    root     time   algbw   busbw  #wrong     "
    "time   algbw   busbw  #wrong",
    "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             "
    "(us)  (GB/s)  (GB/s)"};
constexpr const char* kCallsHead[] = {
    "                            out-of-place, calls                     in-place, calls",
    "    i_min    i_max    i_p99    i_cv%    i_min    i_max    i_p99    i_cv%",
    "             (us)     (us)     (us)      (%)     (us)     (us)     (us)      (%)"};

std::string head_text(bool per_iter) {
    std::string text;
    for (std::size_t i = 0; i < std::size(kHead); ++i)
        text += std::string(kHead[i]) + (per_iter ? kCallsHead[i] : "") + '\n';
    return text;
}

// The columns time, algbw, busbw and #wrong; "N/A" in all of them without a message.
std::string first_columns(const Message* one) {
    if (one == nullptr) return fmt::format("  {0:>7}  {0:>6}  {0:>6}  {0:>6}", "N/A");
    const std::string wrong = one->wrong >= 0 ? fmt::to_string(one->wrong) : "N/A";
    return fmt::format("  {}  {}  {}  {:>6}", in_width(one->time, kTime),
                       in_width(one->stored.number("algbw_GBps"), kRate),
                       in_width(one->busbw, kRate), wrong);
}

std::string calls(const Message* one) {
    if (one == nullptr) return fmt::format("  {0:>7}  {0:>7}  {0:>7}  {0:>7}", "N/A");
    std::string text;
    for (const char* column : {"min_us", "max_us", "p99_us", "cv_percent"})
        text += "  " + in_width(one->stored.number(column), kTime);
    return text;
}

// The messages of one size: out of place, in place.
using Line = std::array<const Message*, 2>;

std::string row(const Line& line, bool per_iter) {
    const Message& any = *(line[0] != nullptr ? line[0] : line[1]);
    const double root = any.stored.number("root");  // buckets have none
    std::string text =
        fmt::format("{:>12}  {:>12}  {:>8}  {:>6}  {:>6}", any.bytes, any.stored.number("elements"),
                    base::one_line(base::nccl_tests_word(any.dtype)), base::one_line(any.redop),
                    std::isnan(root) ? -1 : root);
    for (const Message* place : line) text += first_columns(place);
    for (const Message* place : line)
        if (per_iter) text += calls(place);
    return text + '\n';
}

std::string title(const Message& one) {
    const std::string level = one.level == "host"    ? " of one host"
                              : one.level == "hosts" ? ", one of each host"
                                                     : "";
    return fmt::format(
        "#\n# {}: {}{}\n", base::one_line(one.op),
        counted(static_cast<std::size_t>(std::max<std::int64_t>(0, one.ranks)), "rank"), level);
}

// The table of one operation and level.
std::string block_text(const std::vector<const Message*>& block, bool per_iter) {
    InsertionOrderedMap<std::tuple<std::string, std::string, std::int64_t>, Line> lines;
    for (const Message* one : block)
        lines[{one->dtype, one->redop, one->bytes}][one->in_place() ? 1 : 0] = one;
    std::string text = title(*block.front()) + head_text(per_iter);
    for (const auto& line : lines.all()) text += row(line, per_iter);
    for (const Message* one : block)
        if (!one->mark.empty())
            text += fmt::format("# {}: {}\n", size_text(static_cast<double>(one->bytes)),
                                base::one_line(one->mark));
    return text;
}

std::string footer(const std::vector<Message>& all) {
    std::int64_t wrong = 0, checked = 0;
    std::vector<double> rates;
    for (const auto& one : all) {
        rates.push_back(one.busbw);
        if (one.wrong >= 0) ++checked, wrong += one.wrong;
    }
    const double mean = stats::mean_of_finite(rates);
    return fmt::format(
        "# {:<20} : {}\n# {:<20} : {}\n#\n# Collective test concluded: ranklab comm\n#\n",
        "Out of bounds values",
        checked == 0 ? "not checked" : fmt::format("{} {}", wrong, wrong == 0 ? "OK" : "FAILED"),
        "Avg bus bandwidth", std::isfinite(mean) ? fmt::format("{:g}", mean) : "n/a");
}

std::string setting_or(const Run& run, std::string_view key, const char* otherwise) {
    const std::string value = run.setting(key);
    return value.empty() ? otherwise : value;
}

std::string step_of(const Run& run) {
    if (!run.setting(setting::kSizes).empty() || !run.setting(setting::kFromModel).empty())
        return "none";
    const std::string bytes = run.setting(setting::kStepBytes);
    return bytes.empty() || bytes == "nan"
               ? setting_or(run, setting::kStepFactor, "n/a") + "(factor)"
               : bytes + "(bytes)";
}

// The preamble of nccl-tests. Options that ranklab lacks have the values that describe its runs.
std::string preamble(const Run& run, const std::vector<Message>& all) {
    const auto [least, most] = std::ranges::minmax(all, {}, &Message::bytes);
    const std::string library = run.fact(fact::kMpiLibrary),
                      memory = setting_or(run, setting::kMemory, "pageable");
    std::string text = fmt::format(
        "# ranklab comm {}, {}, backend {}, {} memory\n# Collective test starting: ranklab comm\n"
        "# nThread 1 nGpus {} minBytes {} maxBytes {} step: {} warmup iters: {} iters: {} agg "
        "iters: 1 validation: {} graph: 0 unalign: {}\n#\n# Using devices\n",
        run.version, base::one_line(library.substr(0, library.find(','))),
        setting_or(run, setting::kBackend, "mpi"), memory, memory == "device" ? 1 : 0, least.bytes,
        most.bytes, step_of(run), setting_or(run, setting::kWarmup, "n/a"),
        setting_or(run, setting::kRepetitions, "n/a"), setting_or(run, setting::kCheck, "n/a"),
        setting_or(run, setting::kUnalign, "0"));
    for (const auto& host : run.hosts)
        text += fmt::format("#  Rank {:>2} on {:>10} device {}, cpus {}\n", host.rank,
                            base::one_line(host.host), base::one_line(host.device),
                            base::one_line(host.cpus));
    return text;
}

}  // namespace

std::string nccl_text(const Run& run) {
    auto all = model::messages_of(run);
    for (auto& one : model::messages_of(run, "buckets")) {
        one.op = "gradient buckets of " + run.setting(setting::kFromModel);
        one.redop = "sum", one.place = "in-place";
        one.ranks = static_cast<std::int64_t>(run.hosts.size());
        all.push_back(std::move(one));
    }
    if (all.empty()) return "";
    InsertionOrderedMap<std::pair<std::string, std::string>, std::vector<const Message*>> blocks;
    for (const auto& one : all) blocks[{one.op, one.level}].push_back(&one);
    std::string text = preamble(run, all);
    for (const auto& block : blocks.all())
        text += block_text(block, run.setting(setting::kPerIter) == "true");
    return text + footer(all);
}

}  // namespace ranklab::report::formats
