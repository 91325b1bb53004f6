#include "app/programs.hpp"
#include "experiments/collectives/collectives.hpp"

int main(int argc, char** argv) {
    ranklab::experiments::Collectives collectives;
    return ranklab::app::run_experiment(argc, argv, collectives);
}
