#include "app/programs.hpp"

int main(int argc, char** argv) {
    return ranklab::app::dispatch(argc, argv);
}
