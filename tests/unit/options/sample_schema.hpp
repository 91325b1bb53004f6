// A schema with one option of each kind, for the tests of options/.
#pragma once

#include "options/options.hpp"

namespace ranklab::options {

struct Sample {
    std::string sync, output;
    std::int64_t steps = 0;
    std::optional<std::int64_t> batch_size, global_batch_size;
    double lr = 0;
    std::optional<std::string> config;
    bool dry_run = false;
};

inline Schema sample_schema() {
    Schema schema;
    schema.section("What is done")
        .choice("sync", {"none", "per-parameter", "flat"}, "flat", "how gradients are reduced")
        .bind(&Sample::sync)
        .integer("steps", {1, kWholeNumbers}, "200", "steps to make")
        .bind(&Sample::steps)
        .integer("batch-size", 1, std::nullopt, "samples per rank")
        .bind(&Sample::batch_size)
        .integer("global-batch-size", 1, std::nullopt, "samples of all ranks")
        .instead_of("batch-size")
        .bind(&Sample::global_batch_size)
        .real("lr", {0, 1e308}, "0.5", "learning rate")
        .bind(&Sample::lr);
    schema.section("Where it goes")
        .text("output", "FILE", "results/runs.h5", "the results file")
        .bind(&Sample::output)
        .text("config", "FILE", std::nullopt, "a config file")
        .bind(&Sample::config)
        .flag("dry-run", "print the plan only")
        .bind(&Sample::dry_run);
    return schema;
}

}  // namespace ranklab::options
