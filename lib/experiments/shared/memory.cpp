#include <fmt/format.h>

#include "base/text.hpp"
#include "comm/exchange.hpp"
#include "experiments/shared/experiment.hpp"
#include "host/topology.hpp"

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
            "the ranks on {} need {} of memory ({}), and {} is free; {}give them less work", host,
            base::human_bytes(need), what, base::human_bytes(free),
            force ? "--force starts them nevertheless, or " : "");
        if (need > whole) throw base::OptionError(sentence, settings);
        throw base::EnvironmentError(sentence, settings);
    });
}

}  // namespace ranklab::experiments
