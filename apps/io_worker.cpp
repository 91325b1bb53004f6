#include "io/worker.hpp"

int main() {
    return ranklab::io::worker_main();
}
