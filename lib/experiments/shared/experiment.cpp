#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "base/element.hpp"
#include "base/text.hpp"
#include "comm/exchange.hpp"
#include "experiments/shared/experiment.hpp"
#include "host/topology.hpp"
#include "results/staged_file.hpp"

namespace ranklab::experiments {

void need_memory(comm::Communicator& control, double mine, const std::string& what,
                 const base::Settings& settings, std::optional<bool> force) {
    struct Need {
        std::uint64_t host;  // a hash of its name
        double bytes;
    };
    const auto host = host::host_name();
    const Need own{base::fingerprint(host), mine};
    double need = 0;
    for (const auto& one : comm::gather_values(control, own))
        if (one.host == own.host) need += one.bytes;
    comm::all_or_throw(control, [&] {
        const auto whole = static_cast<double>(host::memory_bytes());
        const auto known = host::free_memory(host::system_root());
        const double free = known ? static_cast<double>(*known) : whole;
        if (need <= free || free == 0 || force.value_or(false)) return;
        const auto sentence = fmt::format(
            "the ranks on {} need {} of memory ({}), and {} is free; {}reduce the work of each "
            "rank",
            host, base::human_bytes(need), what, base::human_bytes(free),
            force ? "--force starts them nevertheless, or " : "");
        if (need > whole) throw base::OptionError(sentence, settings);
        throw base::EnvironmentError(sentence, settings);
    });
}

std::vector<std::size_t> chosen_of(const std::string& list, const char* option,
                                   const std::vector<std::string>& names) {
    std::set<std::size_t> chosen;
    for (const auto& part : base::split(list, ',')) {
        const std::string word = base::trim(part);
        bool is_known = false;
        for (std::size_t i = 0; i < names.size(); ++i)
            if (word == "all" || word == names[i] || word == base::nccl_tests_word(names[i])) {
                chosen.insert(i);
                is_known = true;
            }
        if (!is_known)
            throw base::OptionError(fmt::format("there is no --{} '{}'; give {} or all{}", option,
                                                base::printable(word, 60), base::join(names, ", "),
                                                base::or_did_you_mean(word, names)));
    }
    return {chosen.begin(), chosen.end()};
}

void check_trace_file(const std::string& path) {
    if (!path.ends_with(".json") ||
        !std::filesystem::is_directory(std::filesystem::absolute(path).parent_path()))
        throw base::OptionError(
            fmt::format("--trace {}: give FILE.json in an existing folder", path));
    results::TextFile(path, "trace");
}

}  // namespace ranklab::experiments
