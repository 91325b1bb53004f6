// The programs of apps/*.cpp. Each returns main's exit code and throws nothing.
#pragma once

#include "experiments/shared/experiment.hpp"

namespace ranklab::app {

/// Runs an MPI program with one experiment: options, launch guard, header, work, results file,
/// summary.
int run_experiment(int argc, char** argv, const experiments::Experiment& experiment);

/// An MPI program with sub-commands, the first words of its command line. It stores no run.
int run_tool(int argc, char** argv, const experiments::Tool& tool);

/// `ranklab doctor`: placements, and what is wrong with the launch. Exit 5 if the launch guard
/// would refuse it.
int run_doctor(int argc, char** argv);

/// `ranklab report FILE`: no MPI.
int run_report(int argc, char** argv);

/// `ranklab compare A B`: no MPI.
int run_compare(int argc, char** argv);

/// `ranklab predict FILE`: no MPI.
int run_predict(int argc, char** argv);

/// `ranklab results VERB FILE...`: check, merge, export, prune, list. No MPI.
int run_results(int argc, char** argv);

/// `ranklab sweep PROGRAM OPTIONS`: starts the program with each combination of values. No MPI.
int run_sweep(int argc, char** argv);

/// `ranklab campaign VERB FILE`: plan, run, submit, status, resume, cancel, collect. No MPI.
int run_campaign(int argc, char** argv);

/// `ranklab <command> ...`: replaces this process by ranklab-<command> of the same folder.
int dispatch(int argc, char** argv);

}  // namespace ranklab::app
