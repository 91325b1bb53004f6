#!/usr/bin/env bash
# Two hosts on one machine under a real Slurm, for tests between nodes: each host has its own network stack, host name, /tmp and
# /dev/shm; a bridge joins them, and its links can be slowed. The system's own Slurm, munge and /etc stay unchanged, and `down`
# removes everything. Both hosts share cores and clock: do not measure computation here.
set -Eeuo pipefail # E: functions inherit the trap of up()

readonly packages="slurmctld slurmd slurm-client munge libpmix2 iproute2"
readonly bridge=rlhosts0 subnet=10.78.0

usage() {
  cat <<'END'
usage: two_hosts.sh check                 is everything here? exit code 77 and a sentence if not
       two_hosts.sh up DIR                start both hosts, n1 and n2; their state is in DIR, which must be new and not under /tmp
       two_hosts.sh shape DIR RATE|none   limit what each host sends, e.g. 1gbit
       two_hosts.sh start DIR n1|n2|slurmctld   start that daemon again, after it was killed
       two_hosts.sh exec DIR HOST CMD...  run a command on n1 or n2, outside of Slurm
       two_hosts.sh down DIR              end everything in them, remove them and DIR

After up:  export SLURM_CONF=DIR/slurm.conf; srun -N2 -n2 --mpi=pmix PROGRAM
The working folder of a job must not be under /tmp: each host has a /tmp of its own.
END
}

fail() {
  printf 'two_hosts.sh: %s\n' "$2" >&2
  exit "$1"
}

# ---- Requirements --------------------------------------------------------------------------------

# Prints the missing requirement, or nothing.
obstacle() {
  local tool
  [[ $(id -u) == 0 ]] || { echo "network namespaces need root"; return; }
  for tool in slurmctld slurmd srun sinfo munged ip tc nsenter unshare; do
    command -v "$tool" >/dev/null || { echo "$tool is missing: apt-get install $packages"; return; }
  done
  compgen -G "/usr/lib/*/slurm*/mpi_pmix.so" >/dev/null || compgen -G "/usr/lib*/slurm/mpi_pmix.so" >/dev/null ||
    { echo "Slurm has no pmix plugin here: apt-get install $packages"; return; }
  # In a new network namespace, whose end removes the devices.
  unshare --net --uts --mount sh -c "ip link add probe0 type bridge && ip link add probe1 type veth peer name probe2" 2>/dev/null ||
    echo "this machine allows no network namespaces, bridges or veth pairs (a container without the right to?)"
}

# ---- Up ------------------------------------------------------------------------------------------

# Other ports than the defaults, for a machine that runs Slurm already. Addresses, so that no resolver is needed.
write_slurm_conf() {
  cat >"$dir/slurm.conf" <<END
ClusterName=twohosts
SlurmctldHost=$(hostname)($subnet.254)
SlurmctldPort=46817
SlurmdPort=46818
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$dir/munge.socket
CredType=cred/munge
MpiDefault=pmix
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
ReturnToService=2
SlurmdTimeout=10
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
SlurmctldPidFile=$dir/slurmctld.pid
SlurmctldLogFile=$dir/slurmctld.log
StateSaveLocation=$dir/state
SlurmdPidFile=$dir/slurmd-%n.pid
SlurmdLogFile=$dir/slurmd-%n.log
SlurmdSpoolDir=$dir/spool-%n
GresTypes=gpu
NodeName=n1 NodeAddr=$subnet.1 CPUs=4 RealMemory=4000 Gres=gpu:4
NodeName=n2 NodeAddr=$subnet.2 CPUs=4 RealMemory=4000 Gres=gpu:4
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
  touch "$dir/"gpu{0..3} # for job scripts that ask for GPUs; there are none
  echo "Name=gpu File=$dir/gpu[0-3]" >"$dir/gres.conf"
}

start_munge() {
  head -c 1024 /dev/urandom >"$dir/munge.key"
  chmod 400 "$dir/munge.key"
  munged --force --num-threads=2 --key-file="$dir/munge.key" --socket="$dir/munge.socket" --pid-file="$dir/munged.pid" \
    --log-file="$dir/munged.log" --seed-file="$dir/munge.seed" 2>>"$dir/munged.log"
}

# nsenter, not "ip netns exec", which hides /sys/fs/cgroup from slurmd.
start_host() {
  local n=$1 netns=ranklab-n$1
  ip netns add "$netns"
  ip link add "rlhosts$n" type veth peer name eth0 netns "$netns"
  ip link set "rlhosts$n" master $bridge up
  ip -n "$netns" addr add "$subnet.$n/24" dev eth0
  ip -n "$netns" link set eth0 up
  ip -n "$netns" link set lo up
  mkdir -p "$dir/tmp-n$n"
  chmod 1777 "$dir/tmp-n$n"
  start_slurmd "$n"
}

start_slurmd() {
  local n=$1 netns=ranklab-n$1
  nsenter --net="/run/netns/$netns" unshare --uts --mount --propagation slave sh -ec "
    hostname n$n
    mount --bind '$dir/hosts' /etc/hosts
    mount --bind '$dir/tmp-n$n' /tmp
    mount -t tmpfs shm /dev/shm
    exec slurmd -N n$n"
}

up() {
  local why
  why=$(obstacle)
  [[ -z $why ]] || fail 77 "$why"
  [[ $dir != /tmp/* ]] || fail 2 "$dir is under /tmp, which each host hides behind its own; name a folder elsewhere, such as one in /var/tmp."
  [[ ! -e $dir || -z $(ls -A "$dir") ]] || fail 2 "$dir is not empty; name a new folder, or take the hosts in it down first."
  ! ip link show $bridge >/dev/null 2>&1 ||
    fail 5 "two hosts are up already; take them down first: two_hosts.sh down $(cat /sys/class/net/$bridge/ifalias)"
  mkdir -p "$dir/state"
  chmod 755 "$dir"
  trap 'echo "two_hosts.sh: up failed; what it had started is taken down again." >&2; down' ERR
  printf '127.0.0.1 localhost\n%s.1 n1\n%s.2 n2\n%s.254 %s\n' $subnet $subnet $subnet "$(hostname)" >"$dir/hosts"
  write_slurm_conf
  start_munge
  ip link add $bridge type bridge
  ip link set $bridge alias "$dir" # tells a second caller the folder of these hosts
  ip addr add $subnet.254/24 dev $bridge
  ip link set $bridge up
  slurmctld
  start_host 1
  start_host 2
  wait_until_idle
}

wait_until_idle() {
  for _ in $(seq 150); do
    [[ $(sinfo -h -o %T 2>/dev/null | sort -u) != idle ]] || return 0
    sleep 0.2
  done
  tail -n 5 "$dir"/*.log >&2
  down
  fail 5 "the two hosts did not become idle in 30 s; the ends of their logs are above."
}

start_again() {
  case $1 in
    n1 | n2) start_slurmd "${1#n}" ;;
    slurmctld) slurmctld ;;
    *) fail 2 "there is no daemon \"$1\": say n1, n2 or slurmctld." ;;
  esac
}

# ---- The rest ------------------------------------------------------------------------------------

shape() {
  local n
  for n in 1 2; do
    tc -n ranklab-n$n qdisc del dev eth0 root 2>/dev/null || true
    # tbf, which most kernels have; latency limits its queue.
    [[ $1 == none ]] || tc -n ranklab-n$n qdisc add dev eth0 root tbf rate "$1" burst 256kb latency 20ms
  done
}

run_on() {
  local host=$1
  shift
  [[ $host == n1 || $host == n2 ]] || fail 2 "there is no host \"$host\": say n1 or n2."
  exec nsenter --target "$(cat "$dir/slurmd-$host.pid")" --net --uts --mount "$@"
}

end_processes() {
  local signal=$1 file n
  for n in 1 2; do
    ip netns pids ranklab-n$n 2>/dev/null | xargs -r kill "-$signal" 2>/dev/null || true
  done
  for file in "$dir/slurmctld.pid" "$dir/munged.pid"; do
    [[ ! -s $file ]] || kill "-$signal" "$(cat "$file")" 2>/dev/null || true
  done
}

any_left() {
  local file n
  for n in 1 2; do
    [[ -z $(ip netns pids ranklab-n$n 2>/dev/null) ]] || return 0
  done
  for file in "$dir/slurmctld.pid" "$dir/munged.pid"; do
    [[ ! -s $file ]] || ! kill -0 "$(cat "$file")" 2>/dev/null || return 0
  done
  return 1
}

down() {
  local n
  trap - ERR
  end_processes TERM
  for _ in $(seq 25); do
    any_left || break
    sleep 0.2
  done
  end_processes KILL
  for n in 1 2; do
    ip link del rlhosts$n 2>/dev/null || true
    ip netns del ranklab-n$n 2>/dev/null || true
  done
  ip link del $bridge 2>/dev/null || true
  rm -rf -- "$dir"
}

word=${1:-help}
case $word in
  check)
    why=$(obstacle)
    [[ -z $why ]] || fail 77 "$why"
    exit 0
    ;;
  up | shape | start | exec | down) ;;
  help | -h | --help) usage; exit 0 ;;
  *) usage >&2; exit 2 ;;
esac
(($# >= 2)) || { usage >&2; exit 2; }
dir=$(realpath -m -- "$2")
export SLURM_CONF=$dir/slurm.conf
[[ $word == up ]] || grep -qsx ClusterName=twohosts "$SLURM_CONF" || fail 2 "there are no hosts in $dir; start them with: two_hosts.sh up $dir"
case $word in
  up) up ;;
  shape) (($# == 3)) || fail 2 "shape wants a rate, such as 1gbit, or none."; shape "$3" ;;
  start) (($# == 3)) || fail 2 "start wants n1, n2 or slurmctld."; start_again "$3" ;;
  exec) (($# >= 4)) || fail 2 "exec wants a host and a command."; run_on "${@:3}" ;;
  down) down ;;
esac
