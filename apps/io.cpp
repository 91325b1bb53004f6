#include "app/programs.hpp"
#include "experiments/storage/storage.hpp"

int main(int argc, char** argv) {
    ranklab::experiments::Storage storage;
    return ranklab::app::run_experiment(argc, argv, storage);
}
