// The jobs of a campaign, and where each keeps what belongs to it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "campaign/campaign.hpp"

namespace ranklab::campaign {

struct Job {
    std::string id;     ///< "strong-4r-rep2": the name of its files, and in the queue
    std::string point;  ///< the same without its repetition: jobs of one point are repetitions
    std::string workload;
    std::vector<std::string> words;  ///< of its ranklab command, without --output
    std::string checkpoint;          ///< the folder of its checkpoint, "" where it writes none
    int ranks = 1, nodes = 1, threads = 1, repetition = 1;
    int ranks_per_node = 0;  ///< 0: all on one node
    std::int64_t minutes = 0;
    std::uint64_t disk_bytes = 0;  ///< that the command writes while it runs, estimated; 0: next to none
};

/// In the order in which they shall start: all points once, then all once more, each time in another order
/// (which is the same whenever this is asked), so that a drift of the machine does not fall on one point.
std::vector<Job> jobs_of(const Campaign& campaign);

/// With which the runs of the workload are stored, where its settings say no other.
std::string label_of(const Campaign& campaign, const Workload& workload);

/// With those above it; EnvironmentError where it cannot be made.
void make_folder(const std::filesystem::path& folder);

/// FOLDER/jobs/ID.sh, .log, .out, .err, .claim, .h5, .end: docs/campaign.md says what is in each.
std::filesystem::path file_of(const Campaign& campaign, const Job& job, const std::string& kind);

}  // namespace ranklab::campaign
