#include "app/programs.hpp"

int main(int argc, char** argv) {
    return ranklab::app::run_experiment(argc, argv, ranklab::experiments::train_experiment());
}
