#include "results/archive.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "base/pack.hpp"
#include "base/text.hpp"
#include "results/access.hpp"
#include "results/json.hpp"

namespace ranklab::results {
namespace {

namespace fs = std::filesystem;

struct Source {
    explicit Source(const fs::path& named)
        : path(named), file(open_results(path)), root(file.root()), runs(root.open_group("runs")) {}

    fs::path path;
    hdf5::File file;
    hdf5::Group root;
    hdf5::Group runs;
};

std::unique_ptr<Source> open_source(const fs::path& path) {
    return with_file_context(path, [&] { return std::make_unique<Source>(path); });
}

// A run to copy, and its id in the copy.
struct Entry {
    const Source* source;
    std::string id;
    std::string started_utc;
    std::string new_id = id;

    Run read() const { return load_run(source->path, source->runs, id); }
};

std::vector<Entry> entries_of(const Source& source,
                              const std::function<bool(const std::string&)>& wanted) {
    return with_file_context(source.path, [&] {
        std::vector<Entry> entries;
        for (const auto& id : source.runs.members())
            if (wanted(id))
                entries.push_back(of_run(source.path, id, [&] {
                    return Entry{&source, id,
                                 source.runs.open_group(id).text_attribute("started_utc")};
                }));
        return entries;
    });
}

// Reads each run before copying it: a damaged run throws RunDamage.
void copy_runs(const std::vector<Entry>& entries, hdf5::File file) {
    const hdf5::Group to = file.root().open_group("runs");
    for (const auto& entry : entries) {
        static_cast<void>(entry.read());
        entry.source->runs.copy_member(entry.id, to, entry.new_id);
    }
    file.close();
}

// The contents by which two runs of one id are compared.
std::string contents_of(const Run& run) {
    std::string bytes =
        fmt::format("{} {} {} {} {} {}", run.argv, run.label, run.started_utc, run.duration_s,
                    config_to_json(run.config), context_to_json(run.context));
    for (const auto& m : run.measurements) base::pack(bytes, m.samples);
    return bytes;
}

// Adds the run of a source to those of an output, and counts it in `merged`. Returns whether it is
// new. A run with the id of another one gets an id that follows from its contents, so that merging
// it again finds it.
bool add_new(std::map<std::string, Entry>& known, Entry& entry, Merged& merged) {
    if (const auto same = known.find(entry.id); same != known.end())
        if (const auto contents = contents_of(entry.read());
            contents != contents_of(same->second.read()))
            entry.new_id = fmt::format("{}-{:016x}", entry.id, base::fingerprint(contents));
    const bool added = known.emplace(entry.new_id, entry).second;
    ++(added ? merged.added : merged.known);
    if (added && entry.new_id != entry.id) merged.renamed.push_back(entry.new_id);
    return added;
}

// Upper bound of the bytes that all runs of the sources take.
std::uint64_t room_for(const std::vector<std::unique_ptr<Source>>& sources) {
    std::uint64_t bytes = stored_bytes_at_most({});
    for (const auto& source : sources) bytes += fs::file_size(source->path);
    return bytes;
}

}  // namespace

Inspection inspect(const fs::path& file) {
    return reading(file, [&](const hdf5::Group& runs) {
        Inspection found;
        found.bytes = fs::file_size(file);
        for (const auto& id : runs.members()) {
            ++found.runs;
            try {
                static_cast<void>(load_run(file, runs, id));
                found.whole.insert(id);
            } catch (const RunDamage& damage) {
                found.damaged.push_back(damage);
            }
        }
        return found;
    });
}

std::vector<Merged> merge(const fs::path& out, const std::vector<fs::path>& files,
                          double lock_timeout_s) {
    std::vector<std::unique_ptr<Source>> sources;
    std::ranges::transform(files, std::back_inserter(sources), open_source);
    std::vector<Merged> merged;
    replace(out, lock_timeout_s, [&](StagedFile& staged, bool fresh) {
        const auto there = fresh ? nullptr : open_source(staged.target());
        std::map<std::string, Entry> known;
        if (there)
            for (const auto& id : there->runs.members()) known.insert({id, {there.get(), id, ""}});
        std::vector<Entry> added;
        for (const auto& source : sources) {
            merged.push_back({source->path});
            for (auto& entry : entries_of(*source, [](const auto&) { return true; }))
                if (add_new(known, entry, merged.back())) added.push_back(std::move(entry));
        }
        std::ranges::stable_sort(added, {}, &Entry::started_utc);
        if (there) staged.copy_target();
        staged.reserve(room_for(sources));
        const fs::path& next = staged.path();
        copy_runs(added, there ? hdf5::File::open_to_change(next) : create_empty(next));
    });
    return merged;
}

void export_runs(const fs::path& file, const std::set<std::string>& ids, const fs::path& out,
                 double lock_timeout_s) {
    const auto source = open_source(file);
    replace(out, lock_timeout_s, [&](StagedFile& staged, bool fresh) {
        if (!fresh)
            throw base::OptionError(
                fmt::format("{} exists already; name another file, or use `ranklab results merge`",
                            out.string()));
        staged.reserve(fs::file_size(file));
        copy_runs(entries_of(*source, [&](const auto& id) { return ids.contains(id); }),
                  create_empty(staged.path()));
    });
}

// Copies the runs to keep into a new file: HDF5 does not free the space of a removed group.
void remove_runs(const fs::path& file, const std::set<std::string>& ids, double lock_timeout_s) {
    replace(file, lock_timeout_s, [&](StagedFile& staged, bool /*fresh*/) {
        const auto source = open_source(staged.target());
        staged.reserve(fs::file_size(staged.target()));
        hdf5::File written =
            create_empty(staged.path(), source->root.text_attribute("created_utc"));
        for (const auto& name : source->root.members())
            if (name != "runs") source->root.copy_member(name, written.root(), name);
        copy_runs(entries_of(*source, [&](const auto& id) { return !ids.contains(id); }),
                  std::move(written));
    });
}

}  // namespace ranklab::results
