// A schema with one option of each kind, for the tests of options/.
#pragma once

#include "options/options.hpp"

namespace ranklab::options {

inline Schema sample_schema() {
    Schema schema;
    schema.section("What is done")
        .choice("sync", {"none", "per-parameter", "flat"}, "flat", "how gradients are reduced")
        .integer("steps", {1, kWholeNumbers}, "200", "steps to make")
        .integer("batch-size", 1, std::nullopt, "samples per rank")
        .integer("global-batch-size", 1, std::nullopt, "samples of all ranks")
        .instead_of("batch-size")
        .real("lr", {0, 1e308}, "0.5", "learning rate");
    schema.section("Where it goes")
        .text("output", "FILE", "results/runs.h5", "the results file")
        .text("config", "FILE", std::nullopt, "a config file")
        .flag("dry-run", "print the plan only");
    return schema;
}

}  // namespace ranklab::options
