#include "io/worker.hpp"

int main(int argc, char** argv) {
    return ranklab::io::worker_main(argc, argv);
}
