#include "app/programs.hpp"
#include "experiments/training/training.hpp"

int main(int argc, char** argv) {
    ranklab::experiments::Training training;
    return ranklab::app::run_experiment(argc, argv, training);
}
