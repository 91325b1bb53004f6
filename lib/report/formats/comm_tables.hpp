// Private to this room: the tables of `ranklab comm` as those look who know nccl-tests and OSU's benchmarks.
#pragma once

#include <cstddef>
#include <string>

#include "report/model/messages.hpp"
#include "results/run.hpp"

namespace ranklab::report::formats {

/// As many decimals as fit into so many letters, two at most; "n/a" for none. Flush right.
std::string in_width(double value, std::size_t width);

/// The first five columns: size, count, type, redop, root.
std::string row_begin(const model::Message& one);
/// time, algbw, busbw, #wrong; "N/A" for all where there is no such message.
std::string first_columns(const model::Message* one);

/// What stands right of nccl-tests' columns in the lines above the rows.
struct HeadLines {
    std::string groups, names, units;
};
/// Above row_begin() and first_columns() of both places.
std::string head_text(const HeadLines& more);

/// Preamble, a block for each operation (level, load), a model's buckets, and footer, as nccl-tests has them:
/// the columns that it has stand where it has them, and what it has not to their right. Every line but the
/// rows begins with '#'. "" where nothing of the kind was measured.
std::string nccl_text(const results::Run& run);

/// What started operations hide, by OSU's columns; "" where none were.
std::string nonblocking_text(const results::Run& run);

/// Of it, the buckets of --from-model and their sum; "" without.
std::string buckets_text(const results::Run& run);

}  // namespace ranklab::report::formats
