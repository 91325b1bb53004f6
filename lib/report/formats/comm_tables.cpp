// The tables of `ranklab comm` as those look who know nccl-tests and OSU's benchmarks: the columns that these
// have stand where they have them, so that programs that read their output read ours. Every line but the rows
// begins with '#'.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "base/element.hpp"
#include "base/number_ranges.hpp"
#include "base/one_line.hpp"
#include "base/text.hpp"
#include "report/formats/comm_tables.hpp"
#include "report/model/messages.hpp"
#include "report/model/run_group.hpp"
#include "report/model/values.hpp"
#include "stats/summary.hpp"

namespace ranklab::report::formats {
namespace {

using model::Message;
using results::Run;
using results::Table;

constexpr std::size_t kTime = 7, kRate = 6;  // nccl-tests' widths
constexpr std::size_t kMostRanks = 8;        // more would not be one screen

std::string columns(const std::vector<double>& values) {
    std::string text;
    for (const double value : values) text += "  " + in_width(value, kTime);
    return text;
}

std::string heads(const std::vector<const char*>& names) {
    std::string text;
    for (const char* name : names) text += fmt::format("  {:>{}}", name, kTime);
    return text;
}

// One size, out of place and in place.
struct Line {
    const Message* places[2] = {nullptr, nullptr};

    const Message& any() const { return places[0] != nullptr ? *places[0] : *places[1]; }
};

std::string not_there(std::size_t columns) {
    std::string text;
    for (std::size_t i = 0; i < columns; ++i) text += fmt::format("  {:>{}}", "N/A", kTime);
    return text;
}

std::string spread(const Message* one) {
    return one == nullptr
               ? not_there(6)
               : columns({one->mean, one->p50, one->p95, one->p99, one->interval.low, one->interval.high});
}

std::string calls(const Message* one) {
    return one == nullptr ? not_there(4) : columns({one->min, one->max, one->p99, one->cv_percent});
}

std::string row(const Line& line, bool per_iter) {
    std::string text = row_begin(line.any());
    for (const Message* place : line.places) text += first_columns(place);
    for (const Message* place : line.places) text += spread(place);
    for (const Message* place : line.places)
        if (per_iter) text += calls(place);
    return text + '\n';
}

std::string head(bool per_iter) {
    const auto twice = [](const std::string& text) { return text + text; };
    HeadLines more{fmt::format("  {:^52}  {:^52}", "out-of-place, over calls", "in-place, over calls"),
                   twice(heads({"mean", "p50", "p95", "p99", "ci_low", "ci_high"})),
                   twice(heads({"(us)", "(us)", "(us)", "(us)", "(us)", "(us)"}))};
    if (per_iter) {
        more.groups += fmt::format("  {:^34}  {:^34}", "out-of-place, calls", "in-place, calls");
        more.names += twice(heads({"i_min", "i_max", "i_p99", "i_cv%"}));
        more.units += twice(heads({"(us)", "(us)", "(us)", "(%)"}));
    }
    return head_text(more);
}

// Rows with a mark, a line each mark.
std::string marks(const std::vector<const Message*>& rows) {
    model::InOrderMet<std::string, std::pair<std::string, std::vector<std::string>>> met;
    for (const Message* one : rows) {
        if (one->mark.empty()) continue;
        met[one->mark].first = one->mark;
        met[one->mark].second.push_back(model::size_text(static_cast<double>(one->bytes)) +
                                        (one->in_place() ? " in place" : ""));
    }
    std::string text;
    for (const auto& [mark, sizes] : met.all())
        text += fmt::format("# {}: {}\n", model::some_of(sizes, 6), base::one_line(mark));
    return text;
}

std::string title(const Message& one) {
    const std::string level = one.level == "host"    ? " of one host"
                              : one.level == "hosts" ? ", one of each host"
                                                     : "";
    return fmt::format("#\n# {}: {}{}{}\n", base::one_line(one.op),
                       model::counted(static_cast<std::size_t>(std::max<std::int64_t>(0, one.ranks)), "rank"),
                       level, one.load == "loaded" ? "; a compute kernel ran on the same cores" : "");
}

// An operation at a level under a load: its types and reductions below each other, as nccl-tests has them.
using Block = std::vector<const Message*>;

std::string block_text(const Block& block, bool per_iter) {
    using Key = std::tuple<std::string, std::string, std::int64_t>;
    model::InOrderMet<Key, Line> lines;
    for (const Message* one : block)
        lines[{one->dtype, one->redop, one->bytes}].places[one->in_place() ? 1 : 0] = one;
    std::string text = title(*block.front()) + head(per_iter);
    for (const auto& line : lines.all()) text += row(line, per_iter);
    return text + marks(block);
}

std::string footer(const std::vector<Message>& all) {
    std::int64_t wrong = 0, checked = 0;
    std::vector<double> rates;
    for (const auto& one : all) {
        rates.push_back(one.busbw);
        if (one.wrong < 0) continue;
        ++checked;
        wrong += one.wrong;
    }
    const double mean = stats::mean_of_finite(rates);
    const std::string verdict =
        checked == 0 ? "not checked" : fmt::format("{} {}", wrong, wrong == 0 ? "OK" : "FAILED");
    return fmt::format("# {:<20} : {}\n# {:<20} : {}\n", "Out of bounds values", verdict, "Avg bus bandwidth",
                       std::isfinite(mean) ? fmt::format("{:g}", mean) : "n/a");
}

std::string setting_or(const Run& run, const char* key, const char* otherwise) {
    const std::string value = run.setting(key);
    return value.empty() ? otherwise : value;
}

std::string step_of(const Run& run) {
    if (!run.setting("sizes").empty() || !run.setting("from-model").empty()) return "none";
    const std::string bytes = run.setting("step-bytes");
    return bytes.empty() || bytes == "nan" ? setting_or(run, "step-factor", "n/a") + "(factor)"
                                           : bytes + "(bytes)";
}

// A line a host and kind of device: of more ranks nobody reads a line each.
std::string devices_of_many(const Run& run) {
    constexpr std::size_t kMostLines = 4;
    std::vector<std::pair<std::pair<std::string, std::string>, std::vector<int>>> groups;
    std::map<std::pair<std::string, std::string>, std::size_t> places;
    for (const auto& row : run.hosts) {
        // A GPU's name, without what tells one from another.
        std::pair key(row.host, row.device.substr(0, row.device.find(" [")));
        const auto [place, fresh] = places.try_emplace(key, groups.size());
        if (fresh) groups.push_back({key, {}});
        groups[place->second].second.push_back(row.rank);
    }
    std::string text;
    std::size_t shown = 0;
    for (std::size_t i = 0; i < std::min(groups.size(), kMostLines); ++i) {
        const auto& [key, ranks] = groups[i];
        text += fmt::format("#  Ranks {} on {:>10} device {}\n", base::few_ranges(ranks),
                            base::one_line(key.first), base::one_line(key.second));
        shown += ranks.size();
    }
    if (shown < run.hosts.size()) text += fmt::format("#  and {} more\n", run.hosts.size() - shown);
    return text;
}

std::string devices(const Run& run) {
    std::string text = "# Using devices\n";
    if (run.hosts.size() > kMostRanks) return text + devices_of_many(run);
    for (const auto& row : run.hosts)
        text += fmt::format("#  Rank {:>2} on {:>10} device {}, cpus {}\n", row.rank,
                            base::one_line(row.host), base::one_line(row.device), base::one_line(row.cpus));
    return text;
}

// With nccl-tests' words; what it has and ranklab has not is what it would be there.
std::string preamble(const Run& run, const std::vector<Message>& all) {
    const auto [least, most] = std::ranges::minmax(all, {}, &Message::bytes);
    const std::string library = run.fact("collectives", "library");
    const std::string memory = setting_or(run, "memory", "pageable");
    return fmt::format(
               "# ranklab comm {}, {}, backend {}, {} memory\n# Collective test starting: ranklab comm\n"
               "# nThread 1 nGpus {} minBytes {} maxBytes {} step: {} warmup iters: {} iters: {} agg iters: "
               "1 "
               "validation: {} graph: 0 unalign: {}\n#\n",
               run.version, base::one_line(library.substr(0, library.find(','))),
               setting_or(run, "backend", "mpi"), memory, memory == "device" ? 1 : 0, least.bytes, most.bytes,
               step_of(run), setting_or(run, "warmup", "n/a"), setting_or(run, "repetitions", "n/a"),
               setting_or(run, "check", "n/a"), setting_or(run, "unalign", "0")) +
           devices(run);
}

std::string one_rank(const Run& run) {
    if (run.hosts.size() > 1) return "";
    return "# busbw is n/a: one rank sends nothing over a link, so a time is what a call costs alone\n";
}

}  // namespace

std::string row_begin(const Message& one) {
    return fmt::format("{:>12}  {:>12}  {:>8}  {:>6}  {:>6}", one.bytes, one.elements,
                       base::one_line(base::nccl_tests_word(one.dtype)), base::one_line(one.redop), one.root);
}

std::string first_columns(const Message* one) {
    if (one == nullptr) return fmt::format("  {0:>7}  {0:>6}  {0:>6}  {0:>6}", "N/A");
    const std::string wrong =
        one->wrong >= 0 ? fmt::format("{:>6}", one->wrong) : fmt::format("{:>6}", "N/A");
    return fmt::format("  {}  {}  {}  {}", in_width(one->time, kTime), in_width(one->algbw, kRate),
                       in_width(one->busbw, kRate), wrong);
}

std::string head_text(const HeadLines& more) {
    const auto twice = [](const std::string& text) { return text + text; };
    const auto line = [](const char* size, const char* count, const char* type, const char* redop,
                         const char* root) {
        return fmt::format("# {:>10}  {:>12}  {:>8}  {:>6}  {:>6}", size, count, type, redop, root);
    };
    const std::string groups = line("", "", "", "", "") +
                               fmt::format("           {:<22}{:>12}{:<12}", "out-of-place", "in-place", "");
    const std::string names =
        line("size", "count", "type", "redop", "root") + twice("     time   algbw   busbw  #wrong");
    const std::string units =
        line("(B)", "(elements)", "", "", "") + twice("     (us)  (GB/s)  (GB/s)        ");
    return base::trim(groups + more.groups) + '\n' + names + more.names + '\n' +
           base::trim(units + more.units) + '\n';
}

std::string in_width(double value, std::size_t width) {
    if (!std::isfinite(value)) return fmt::format("{:>{}}", "n/a", width);
    for (const int decimals : {2, 1, 0})
        if (auto text = fmt::format("{:{}.{}f}", value, width, decimals); text.size() <= width) return text;
    return fmt::format("{:{}.{}e}", value, width, width >= kTime ? 1 : 0);
}

std::string nccl_text(const Run& run) {
    const auto messages = model::messages_of(run);
    auto all = messages;
    if (const Table* buckets = run.find_table("buckets"); buckets != nullptr)
        for (auto& one : model::messages_in(*buckets)) all.push_back(std::move(one));
    if (all.empty()) return "";
    model::InOrderMet<std::tuple<std::string, std::string, std::string>, Block> blocks;
    for (const auto& one : messages) blocks[{one.op, one.level, one.load}].push_back(&one);
    const bool per_iter = run.setting("per-iter") == "true";
    std::string text = preamble(run, all);
    for (const auto& block : blocks.all()) text += block_text(block, per_iter);
    return text + buckets_text(run) + one_rank(run) + footer(all) +
           "#\n# Collective test concluded: ranklab comm\n#\n";
}

}  // namespace ranklab::report::formats
