// The programs behind apps/*.cpp. Each returns the exit code of main; nothing is thrown past them.
#pragma once

#include "experiments/shared/experiment.hpp"
#include "experiments/shared/tool.hpp"

namespace ranklab::app {

/// Runs an MPI program with one experiment: options, launch guard, header, work, results file,
/// summary.
int run_experiment(int argc, char** argv, const experiments::Experiment& experiment);

/// An MPI program with sub-commands, the first words of its command line. It stores no run.
int run_tool(int argc, char** argv, const experiments::Tool& tool);

/// `ranklab doctor`: where each rank sits, what is wrong and how to mend it. Exit 5 if the launch
/// guard would refuse.
int run_doctor(int argc, char** argv);

/// `ranklab report FILE`: no MPI.
int run_report(int argc, char** argv);

/// `ranklab compare A B`: no MPI.
int run_compare(int argc, char** argv);

/// `ranklab predict FILE`: no MPI.
int run_predict(int argc, char** argv);

/// `ranklab results VERB FILE...`: check, merge, export, prune, list. No MPI.
int run_results(int argc, char** argv);

/// `ranklab sweep PROGRAM OPTIONS`: every combination as a process of its own. No MPI.
int run_sweep(int argc, char** argv);

/// `ranklab campaign VERB FILE`: plan, run, submit, status, resume, cancel, collect. No MPI.
int run_campaign(int argc, char** argv);

/// `ranklab <command> ...` becomes ranklab-<command> in its folder.
int dispatch(int argc, char** argv);

}  // namespace ranklab::app
