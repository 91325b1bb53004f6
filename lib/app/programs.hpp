// The programs of apps/*.cpp: run_X is `ranklab X`. Each returns main's exit code and throws
// nothing.
#pragma once

#include "experiments/shared/experiment.hpp"

namespace ranklab::app {

/// Runs an MPI program with one experiment: options, launch guard, header, work, results file,
/// summary.
int run_experiment(int argc, char** argv, const experiments::Experiment& experiment);
/// An MPI program with sub-commands, the first words of its command line. It stores no run.
int run_tool(int argc, char** argv, const experiments::Tool& tool);
/// Exit code 5 if the launch guard would refuse this launch.
int run_doctor(int argc, char** argv);

// Without MPI.
int run_report(int argc, char** argv);
int run_compare(int argc, char** argv);
int run_predict(int argc, char** argv);
int run_results(int argc, char** argv);
int run_sweep(int argc, char** argv);
int run_campaign(int argc, char** argv);
int run_vet(int argc, char** argv);
/// `ranklab <command> ...`: replaces this process by ranklab-<command> of the same folder.
int dispatch(int argc, char** argv);

}  // namespace ranklab::app
