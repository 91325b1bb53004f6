# Whoever stops this script wants the ranks to store what they have measured, and the script to say how they
# ended. srun and mpirun pass SIGUSR1 on to the ranks; SIGTERM would have mpirun kill them a second later.
# Who asks a second time does not want to wait.
# shellcheck disable=SC2317 # the traps call it
stop() {
  local signal=USR1
  if ((stopped != 0)) && [[ $1 != USR1 ]]; then signal=TERM; fi
  stopped=$((128 + $(kill -l "$1"))) asked=$((asked + 1))
  [[ -z $child ]] || kill "-$signal" "$child" 2>/dev/null || true
}
child='' stopped=0 asked=0
trap 'stop INT' INT
trap 'stop TERM' TERM
trap 'stop USR1' USR1

# Runs a launcher to its end, and returns its exit code: where it was stopped, 128 + the signal.
run() {
  local code before=-1
  ((stopped == 0)) || return "$stopped"
  "$@" &
  child=$!
  ((stopped == 0)) || kill -USR1 "$child" 2>/dev/null || true # it came before there was anybody to tell
  while ((before != asked)); do # a signal ends the waiting, not the launcher
    before=$asked code=0
    wait "$child" || code=$?
  done
  child=''
  # Hydra, which has passed a signal on, may say 0 of ranks that end with another code.
  if ((code == 0 && stopped != 0)) && [[ $("$1" --version 2>&1) =~ HYDRA|Intel ]]; then code=$stopped; fi
  ((code == 0 || stopped == 0)) || code=$stopped
  return "$code"
}
