#!/bin/bash
# Is this revision slower than another? Builds both, measures them in turn, compares (docs/compare.md).
set -euo pipefail

usage() {
  cat <<'END'
Usage: ci_gate.sh --base REVISION [options] -- COMMAND [options of ranklab COMMAND]

  --base REVISION   the revision to compare with: origin/main
  --head REVISION   the revision to judge (HEAD)
  --runs N          runs per revision, one launch each (9)
  --fail P%         fail if a measurement is worse by this much (5%)
  --strict yes|no   fail if a measurement has no verdict (no)
  --ignore KEY,...   settings and facts that may differ between the revisions
  --launch WORDS    how to start ranklab: 'mpirun -n 2'
  --results FILE    results file, which must be new (gate.h5)
  --report FILE     append the comparison to it in Markdown
  --history FILE    append the runs of --head to it, and fail if they are slower than those before (docs/watch.md)
  --work DIR        where the two revisions are checked out and built (ci-gate)
  --build WORDS     how a revision is built, in its folder ('./bootstrap build')
  --programs DIR    folder of the built programs in it (build/release/bin)

  ci_gate.sh --base origin/main -- train --model mnist-cnn --data synthetic --steps 200 --threads 2

Exit code: that of ranklab compare (4: worse), or of the run or build that failed.
END
}

say() { printf 'ci_gate: %s\n' "$*" >&2; }
fail() {
  say "$1"
  exit "${2:-2}"
}

base='' head=HEAD runs=9 threshold=5% strict=no allow='' launch='' results=gate.h5 report='' history=''
work=ci-gate build='./bootstrap build' programs=build/release/bin
while (($# > 0)); do
  case $1 in
    --help | -h) usage && exit 0 ;;
    --) shift && break ;;
    --*) (($# > 1)) || fail "$1 needs a value; ci_gate.sh --help lists the options" ;;&
    --base) base=$2 ;;
    --head) head=$2 ;;
    --runs) runs=$2 ;;
    --fail) threshold=$2 ;;
    --strict) strict=$2 ;;
    --ignore) allow=$2 ;;
    --launch) launch=$2 ;;
    --results) results=$2 ;;
    --report) report=$2 ;;
    --history) history=$2 ;;
    --work) work=$2 ;;
    --build) build=$2 ;;
    --programs) programs=$2 ;;
    *) fail "unknown option $1; ci_gate.sh --help lists them" ;;
  esac
  shift 2
done
[[ -n $base ]] || fail 'name what to compare with: --base origin/main'
(($# > 0)) || fail 'say what to measure after --, for example: -- train --model mnist-cnn --data synthetic --steps 200'
[[ $runs =~ ^[1-9][0-9]*$ ]] || fail "--runs $runs: give a number of runs per revision"
[[ ! -e $results ]] || fail "$results exists, and its runs would count; remove it or give another --results"

# Each revision has its own folder, so that the builds share nothing.
check_out_and_build() { # SIDE REVISION
  local folder=$work/$1 commit
  commit=$(git rev-parse --verify --quiet "$2^{commit}") || fail "$2 is not a revision of this repository"
  if [[ -e $folder ]]; then
    git -C "$folder" checkout --quiet --detach "$commit"
  else
    git worktree add --quiet --force --detach "$folder" "$commit"
  fi
  say "building $1 ($2)"
  (cd "$folder" && $build) >&2 || fail "$1 ($2) could not be built" $?
}

measure() { # SIDE COMMAND OPTIONS...
  local side=$1
  shift
  # A failed run ends the gate, since a missing run would be missing on one side only.
  $launch "$work/$side/$programs/ranklab" "$@" --label "gate-$side" --output "$results" --quiet >/dev/null ||
    fail "a run of $side failed" $?
}

mkdir -p "$work"
work=$(cd "$work" && pwd)
check_out_and_build base "$base"
check_out_and_build head "$head"
for ((run = 1; run <= runs; ++run)); do
  say "run $run of $runs per revision"
  # In turn, in alternating order, so that drift affects both revisions alike.
  if ((run % 2)); then order=(base head); else order=(head base); fi
  for side in "${order[@]}"; do measure "$side" "$@"; done
done

compare=("$work/head/$programs/ranklab" compare --file "$results" label:gate-base label:gate-head
  --fail-on-regression "$threshold")
[[ $strict == no ]] || compare+=(--strict)
[[ -z $allow ]] || compare+=(--ignore "$allow")
code=0
"${compare[@]}" || code=$?
[[ -z $report ]] || "${compare[@]}" --format markdown 2>/dev/null >>"$report" || true
if [[ -n $history ]]; then
  "$work/head/$programs/ranklab" results merge "$history" "$results" >&2 || fail "$history could not be written" $?
  past=("$work/head/$programs/ranklab" report "$history" --label gate-head --history)
  [[ -z $report ]] || "${past[@]}" --format markdown >>"$report"
  "${past[@]}" --fail-on-regression "$threshold" || code=$?
fi
exit "$code"
