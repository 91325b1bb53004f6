#include "report/model/single_device.hpp"

#include <algorithm>
#include <array>

namespace ranklab::report::model {
namespace {

constexpr std::array kBetweenRanks{
    "mode",     "sync",     "backend",       "bucket-cap-mb",        "progress",
    "transfer", "compress", "overlap-steps", "no-broadcast-buffers", "sharding"};
constexpr std::array kFollowsRanks{"progress", "transfer", "threads"};

template <class Names>
bool contains(const Names& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

bool is_single_device(const results::Run& run) {
    return run.setting("mode") == "single";
}

bool is_between_ranks(const std::string& setting) {
    return contains(kBetweenRanks, setting);
}

bool follows_ranks(const std::string& setting) {
    return contains(kFollowsRanks, setting);
}

}  // namespace ranklab::report::model
