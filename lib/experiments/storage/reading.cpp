// The read passes of a repetition.
#include <fmt/format.h>

#include <cstring>

#include "base/error.hpp"
#include "comm/exchange.hpp"
#include "experiments/storage/repetition.hpp"

namespace ranklab::experiments {

namespace fs = std::filesystem;

double ReadPass::seconds() const {
    using enum base::IoPhase;
    double total = 0;
    for (const auto phase : {open, base::IoPhase::read, parse, close})
        total += times.of(phase).total_s;
    return total;
}

// With several ranks, a rank other than the writer verifies a record. The first timed pass verifies
// with --reorder or at one rank, else an untimed pass. Returns false if the time limit cut a pass.
bool Repeater::read_back(int number, std::vector<ReadPass>& passes) {
    const ReadPlan others = plan_for_others(written_, control_.rank());
    const ReadPlan plan = options_.reorder ? others : plan_in_order(written_, control_.rank());
    const bool by_others = options_.reorder || control_.world_size() == 1;
    const bool first_verifies = options_.verify() && !options_.check_write && by_others;
    const auto pass = [&](std::string kind, const ReadPlan& of, bool compare) {
        auto& made = passes.emplace_back(read(of, compare));
        made.repetition = number;
        made.kind = std::move(kind);
        return !any_was_cut();
    };
    bool whole = !options_.check_write || pass("check", others, true);
    if (whole && options_.cold) evict(plan);
    for (int i = 1; whole && i <= options_.reads; ++i)
        whole = pass(fmt::format("read {}", i), plan,
                     options_.check_read || (first_verifies && i == 1));
    if (whole && options_.verify() && !first_verifies && !options_.check_write)
        whole = pass("check", others, true);
    return whole;
}

ReadPass Repeater::read(const ReadPlan& plan, bool compare) {
    progress_.activity("reading back what " + options_.entry.name + " wrote");
    ReadPass pass;
    pass.who = plan.who;
    pass.compared = compare;
    cut_ = false;
    // All ranks examine the cache before any rank reads: reading a shared file makes other ranks'
    // parts resident.
    comm::all_or_throw(control_, [&] {
        if (!plan.records.empty()) pass.cache = evidence_before(plan);
    });
    comm::all_or_throw(control_, [&] {
        if (plan.records.empty()) return;
        const auto before = io::delivered_bytes();
        read_records(plan, pass);
        const auto after = io::delivered_bytes();
        pass.cache.requested = pass.records * options_.entry.bytes_per_record(options_.size);
        pass.cache.delivered.reset();
        if (before && after) pass.cache.delivered = *after - *before;
    });
    return pass;
}

void Repeater::read_records(const ReadPlan& plan, ReadPass& pass) {
    values_.resize(static_cast<std::size_t>(options_.values_per_record()));
    const auto reader = strategy_->reader(pass.times);
    pass.records = std::ssize(plan.records);
    for (const std::int64_t id : plan.records) {
        cut_ = is_late();
        if (cut_) return;
        read_record(*reader, id, pass);
        base::count_progress();
        stop_if_asked();
    }
}

void Repeater::read_record(io::Reader& reader, std::int64_t id, ReadPass& pass) {
    try {
        reader.read(id, values_);
        if (pass.compared) compare_record(id, pass);
    } catch (const base::DataError& error) {
        ++pass.wrong_records;
        pass.wrong += options_.values_per_record();
        if (pass.first_wrong.empty()) pass.first_wrong = error.what();
    }
}

void Repeater::compare_record(std::int64_t id, ReadPass& pass) {
    expected_.resize(values_.size());
    io::fill_record(grid_, options_.entry.order, options_.files, id, 0, options_.size, expected_);
    if (std::memcmp(values_.data(), expected_.data(), values_.size() * sizeof(double)) == 0) return;
    ++pass.wrong_records;
    for (std::size_t i = 0; i < values_.size(); ++i) {
        if (std::memcmp(&values_[i], &expected_[i], sizeof(double)) == 0) continue;
        ++pass.wrong;
        if (!pass.first_wrong.empty()) continue;
        const auto size = static_cast<std::size_t>(options_.size);
        pass.first_wrong = fmt::format("{}, record {}, row {}, column {}: {} instead of {}",
                                       strategy_->file_of(id).string(), id, i / size, i % size,
                                       values_[i], expected_[i]);
    }
}

void Repeater::for_each_file(const ReadPlan& plan,
                             const std::function<void(const fs::path&)>& visit) const {
    for (const std::int64_t id : plan.records) {
        const fs::path path = strategy_->file_of(id);
        std::error_code missing;  // the reader reports a missing file
        if (fs::exists(path, missing)) visit(path);
        if (options_.entry.shared_file) return;
    }
}

io::CacheEvidence Repeater::evidence_before(const ReadPlan& plan) const {
    io::CacheEvidence evidence;
    evidence.file_system = base::file_system_at(options_.directory);
    for_each_file(plan, [&](const fs::path& path) {
        const auto one = io::residency_of(path);
        if (!one) evidence.before = std::nullopt;
        if (one && evidence.before) *evidence.before += *one;
    });
    return evidence;
}

void Repeater::evict(const ReadPlan& plan) {
    comm::all_or_throw(control_, [&] {
        for_each_file(plan, [&](const fs::path& path) {
            io::evict(path);
            progress_.activity("dropping files from the page cache");
        });
    });
}

}  // namespace ranklab::experiments
