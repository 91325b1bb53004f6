#include "app/programs.hpp"

int main(int argc, char** argv) {
    return ranklab::app::run_vet(argc, argv);
}
