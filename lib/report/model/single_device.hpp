// Private to this room: what a run on one device and its twins on several ranks have in common. Every
// speedup's base is the single-device run; page and text ask here which one that is.
#pragma once

#include <string>

#include "results/run.hpp"

namespace ranklab::report::model {

/// A run of the single-device code: one rank that shares nothing with others (`--mode single`).
bool is_single_device(const results::Run& run);

/// Settings that say only how several ranks work together (sync, backend, bucket cap ...): a single-device
/// run stores them too, and they mean nothing there. The mode, which tells the two apart, is one of them.
bool is_between_ranks(const std::string& setting);

/// Settings that the program chooses by itself where nobody does, by how many ranks share a node: they may
/// differ along a curve without anybody having varied them.
bool follows_ranks(const std::string& setting);

}  // namespace ranklab::report::model
