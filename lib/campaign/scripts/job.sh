# The job is done when $job.h5 is there: the first attempt that ends well puts it there, and no other does.
# $job.claim says who is at the job: a Slurm job with the number of its restarts, or a process with the time
# of its start and its host. It appears whole, and once; `ranklab campaign resume` removes it when its owner
# is gone. Each attempt stores its runs in a file of its own until it has ended well.
if [[ -e $job.h5 ]]; then
  echo "$job.h5 is there: this job is done"
  exit 0
fi
if [[ $launcher == slurm && -n ${SLURM_JOB_ID:-} ]]; then
  me="slurm $SLURM_JOB_ID ${SLURM_RESTART_COUNT:-0}"
else
  me="process $$ $(cut -d' ' -f22 /proc/$$/stat) $(hostname)"
fi
mine=$job.${me// /-}
printf '%s\n' "$me" >"$mine.claim" || exit 5
if ! ln "$mine.claim" "$job.claim" 2>/dev/null; then
  [[ -e $job.claim ]] || mv -n "$mine.claim" "$job.claim" # this file system has no links
  holder=$(cat "$job.claim" 2>/dev/null)
  if [[ $holder != "${me% *} "* ]]; then # the same but for the restarts: Slurm has ended that attempt
    rm -f "$mine.claim"
    echo "nothing to do: $holder has this job. Where it is gone, \`ranklab campaign resume\` begins it again"
    exit 0
  fi
  mv -f "$mine.claim" "$job.claim" 2>/dev/null
fi
rm -f "$mine.claim"

if [[ $(id -u) == 0 ]]; then export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; fi
export OMP_NUM_THREADS=$threads
begun=$(date +%s.%N)
: >"$job.out"
rm -f "$mine.h5" # Slurm may give a number twice, when it has lost its state
: >"$job.err"
run "${launch[@]}" "${command[@]}" --output "$mine.h5" >>"$job.out" 2>>"$job.err"
code=$?

if [[ $code == 0 || $code == 7 ]]; then
  ln "$mine.h5" "$job.h5" 2>/dev/null || mv -n "$mine.h5" "$job.h5"
  [[ -e $job.h5 ]] || code=5
fi
# What a stopped attempt has saved is for the next one. A job that is done needs it no more, and one that
# refuses it (2, 3) would refuse it for ever: of all steps, or damaged.
if [[ -n $checkpoint && $code =~ ^[0237]$ ]]; then
  rm -f "$checkpoint/checkpoint.h5" "$checkpoint/checkpoint.previous.h5"
  rmdir "$checkpoint" 2>/dev/null
fi
if [[ $mine.h5 -ef $job.h5 ]]; then rm -f "$mine.h5"; fi
rm -f "$mine.h5".*lock
printf 'exit_code=%s\nbegun=%s\nended=%s\nby=%s\non=%s\n' \
  "$code" "$begun" "$(date +%s.%N)" "$me" "${SLURM_JOB_NODELIST:-$(hostname)}" >"$mine.end" &&
  mv "$mine.end" "$job.end"
exit "$code"
