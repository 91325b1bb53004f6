// A schema with one option of each kind, for the tests of options/.
#pragma once

#include "options/options.hpp"

namespace ranklab::options {

struct Sample {
    std::string sync = "flat", output = "results/runs.h5";
    std::int64_t steps = 200;
    std::optional<std::int64_t> batch_size, global_batch_size;
    double lr = 0.5;
    std::optional<std::string> config;
    bool dry_run = false;
};

inline Schema sample_schema() {
    Schema schema;
    schema.section("What is done")
        .choice("sync", &Sample::sync, {"none", "per-parameter", "flat"},
                "how gradients are reduced")
        .integer("steps", &Sample::steps, {1, kWholeNumbers}, "steps to make")
        .integer("batch-size", &Sample::batch_size, 1, "samples per rank")
        .integer("global-batch-size", &Sample::global_batch_size, 1, "samples of all ranks")
        .instead_of("batch-size")
        .real("lr", &Sample::lr, {0, 1e308}, "learning rate");
    schema.section("Where it goes")
        .text("output", &Sample::output, "FILE", "the results file")
        .text("config", &Sample::config, "FILE", "a config file")
        .flag("dry-run", &Sample::dry_run, "print the plan only");
    return schema;
}

}  // namespace ranklab::options
