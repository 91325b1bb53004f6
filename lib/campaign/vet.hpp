// Vets the nodes of an allocation: starts short runs of train, io and comm on all nodes at once,
// and finds the node, GPU or link that is slower than the others, or than before.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "campaign/sweep.hpp"
#include "stats/fleet.hpp"

namespace ranklab::campaign {

/// The options of vet beside those of SweepSettings that vet_options() takes.
struct VetSettings {
    std::optional<int> ranks, threads, rounds;
    std::string min_effect = "5%", directory = "output", format = "text";
};
options::Schema vet_options();

struct VetPair {
    std::size_t round = 0, a = 0, b = 0;  ///< rows of a series
};
/// The costs of one measure in one start, in s, us or ns per byte: of single ranks, or of pairs.
struct VetSeries {
    std::string measure = {};             ///< "memory bandwidth", "write to output"
    std::string work = {};                ///< equal for starts whose costs may be compared
    std::vector<std::string> names = {};  ///< of the rows: hosts, or ranks of a host
    std::vector<stats::RowCosts> costs = {};
    std::vector<VetPair> pairs = {};  ///< rows measured together; empty: each row alone
};

/// A node or link that stands out.
struct VetFinding {
    std::vector<std::string> names = {};  ///< the node, or the two of a link
    std::string measure = {};
    bool past = false;                 ///< slower than in earlier vets, not than the others
    double effect = 0;                 ///< 0.12: takes 12 % longer
    std::size_t seen = 0, rounds = 0;  ///< how often; with `past`: earlier vets

    std::string kind() const;  ///< in JSON: "node", "link", "node_before", "link_before"
};
using VetFindings = std::vector<VetFinding>;
std::string sentence(const VetFinding& finding);

/// The rows of one start that are slower than the others, and slower links between the remaining
/// rows. Costs of pairs of two suspects do not count.
VetFindings slower_rows(const VetSeries& series, const stats::FleetTest& test,
                        std::set<std::string> suspects = {});
/// What stands out in both starts; `seen` and `rounds` are the sums.
VetFindings confirmed(const VetFindings& first, VetFindings second);
/// The rows that are slower than in earlier vets of the same work. A single pair is one finding.
VetFindings slower_than_past(const VetSeries& now, const std::vector<VetSeries>& before,
                             stats::FleetTest test);

struct VetReport {
    std::string label = {};
    std::size_t nodes = 0, rounds = 0, earlier_vets = 0;
    std::vector<std::string> measured = {};
    VetFindings findings = {};
    std::set<std::string> notes = {};      ///< caveats of its runs: ranks that shared cores
    std::vector<std::string> silent = {};  ///< nodes on which nothing starts
    std::vector<std::string> failed = {};  ///< programs that failed, each with the end of its log
    bool names_hosts = false;              ///< rows are hosts; otherwise ranks of hosts

    /// Host names of nodes that stand out or are silent, without links: "n17,n23".
    std::string exclude() const;
    int exit_code = 0;
};
/// Measures, measures again where a row stands out, and judges. Throws OptionError for an
/// impossible option.
VetReport vet(const VetSettings& own, const SweepSettings& launching, const Say& say);
/// The commands of the first measurement, one per line, quoted for a shell.
std::string vet_commands(const VetSettings& own, const SweepSettings& launching);

}  // namespace ranklab::campaign
