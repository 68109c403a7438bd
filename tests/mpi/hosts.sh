#!/usr/bin/env bash
# Hosts on one machine: network namespaces with addresses and host names of their own, joined by a bridge. Runs a program
# over them with mpirun, which is started on the first and reaches the others as it reaches hosts by ssh.
#
#   tests/mpi/hosts.sh 2x2 voxshard train work -o run      two hosts, node-a and node-b, with two ranks each
#   RATE=1gbit tests/mpi/hosts.sh 2x1 PROGRAM ...          no host sends faster than that (tc tbf)
#   tests/mpi/hosts.sh --check                             says what is missing, and exits with 77
#
# Between ranks there is TCP only, also on one host. MPIRUN names mpirun, MPIRUN_OPTIONS adds to its options. Everything is
# inside namespaces that end with this script, however it ends: nothing is left on the machine. As root, or as a user who
# may make user namespaces. The exit code is mpirun's, which is the program's.
set -euo pipefail
here=$(realpath "${BASH_SOURCE[0]}")
names=(node-a node-b node-c node-d)

# What this script calls itself as: inside the namespaces, and in place of ssh.
case "${1:-}" in
  --on)  # HOST COMMAND...: as ssh would
    exec ip netns exec "$2" unshare --uts sh -c 'hostname "$0" && exec sh -c "$*"' "${@:2}" ;;
  --inside)  # COUNTxRANKS PROGRAM...
    count=${2%x*} ranks=${2#*x}
    shift 2
    mount -t tmpfs tmpfs /run
    ip link set lo up
    ip link add cluster type bridge
    ip link set cluster up
    list=""
    echo "127.0.0.1 localhost" > /run/hosts
    for ((i = 0; i < count; ++i)); do
      host=${names[i]}
      ip netns add "$host"
      ip link add "port$i" type veth peer name net0 netns "$host"
      ip link set "port$i" master cluster up
      ip -n "$host" address add "10.77.0.$((i + 1))/24" dev net0
      ip -n "$host" link set lo up
      ip -n "$host" link set net0 up
      [ -z "${RATE:-}" ] || ip netns exec "$host" tc qdisc add dev net0 root tbf rate "$RATE" burst 256kb latency 50ms
      echo "10.77.0.$((i + 1)) $host" >> /run/hosts
      list+="${list:+,}$host:$ranks"
    done
    mount --bind /run/hosts /etc/hosts
    [ "$(id -u)" -ne 0 ] || export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    # shellcheck disable=SC2086  # options are words
    "$here" --on "${names[0]}" exec "$(printf '%q ' "${MPIRUN:-mpirun}" --host "$list" -n $((count * ranks)) \
      --bind-to none --oversubscribe --mca plm rsh --mca plm_rsh_agent "$here --on" --mca plm_rsh_no_tree_spawn 1 \
      --mca orte_tmpdir_base /run --mca pml ob1 --mca btl tcp,self --mca btl_tcp_if_include net0 \
      --mca oob_tcp_if_include net0 ${MPIRUN_OPTIONS:-} "$@")"
    exit ;;
esac

for program in ip unshare "${MPIRUN:-mpirun}"; do
  command -v "$program" >/dev/null || { echo "no $program (Debian: iproute2, util-linux, openmpi-bin)" >&2; exit 77; }
done
[[ $("${MPIRUN:-mpirun}" --version 2>&1) =~ "Open MPI"|OpenRTE ]] || { echo "${MPIRUN:-mpirun} is not Open MPI's" >&2; exit 77; }
own=(unshare --net --mount --pid --fork --kill-child --mount-proc)
[ "$(id -u)" -eq 0 ] || own=("${own[@]}" --user --map-root-user)
try='mount -t tmpfs tmpfs /run && ip netns add try && ip netns exec try unshare --uts hostname try && ip link add try type bridge &&
  ip link add port type veth peer name net0 netns try && ip link set port master try'
if [ -n "${RATE:-}" ]; then
  command -v tc >/dev/null || { echo "no tc (Debian: iproute2)" >&2; exit 77; }
  try+=" && ip netns exec try tc qdisc add dev net0 root tbf rate '$RATE' burst 256kb latency 50ms"
fi
if ! why=$("${own[@]}" sh -c "$try" 2>&1); then
  echo "no network namespaces with links between them${RATE:+, each $RATE}: no permission, or not in this kernel: $why" >&2
  exit 77
fi
[ "${1:-}" != --check ] || exit 0
if ! [[ "${1:-}" =~ ^[1-4]x[1-9][0-9]?$ ]] || [ $# -lt 2 ]; then
  sed -n '2,/^set /s/^# \{0,1\}//p' "$here" >&2
  exit 2
fi
exec "${own[@]}" "$here" --inside "$@"
