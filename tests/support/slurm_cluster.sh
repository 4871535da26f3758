# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Sourced by tests/slurm.sh, which sets $root and the array daemons: starts a Slurm of its own on this machine. All that
# it writes is in $root. Each node is a slurmd with a port of its own; Debian's build allows several on one machine.

free_ports() {
  python3 - "$1" <<'END'
import socket, sys

sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(int(sys.argv[1]))]
print(*(s.getsockname()[1] for s in sockets))
END
}

# write_config NODES
write_config() {
  local host ports i
  host=$(hostname -s)
  read -ra ports <<<"$(free_ports $(($1 + 1)))"
  cat >"$root/slurm.conf" <<END
ClusterName=batch
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=${ports[0]}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$root/munge.socket
CredType=cred/munge
StateSaveLocation=$root/state
SlurmdSpoolDir=$root/spool.%n
SlurmctldPidFile=$root/slurmctld.pid
SlurmdPidFile=$root/slurmd.%n.pid
SlurmctldLogFile=$root/slurmctld.log
SlurmdLogFile=$root/slurmd.%n.log
# no cgroups, which a container does not have
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SwitchType=switch/none
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=1,batch_sched_delay=1
KillWait=5
PartitionName=main Nodes=ALL Default=YES MaxTime=10 State=UP
END
  for ((i = 1; i <= $1; ++i)); do
    echo "NodeName=n$i NodeHostname=$host NodeAddr=127.0.0.1 Port=${ports[i]} CPUs=1" >>"$root/slurm.conf"
  done
}

# daemon COMMAND...: in the foreground of a process of its own, so that its number is known.
daemon() {
  "$@" >>"$root/daemons.log" 2>&1 &
  daemons+=($!)
}

nodes_idle() { [[ $(sinfo -h -N -o %T 2>/dev/null | grep -c idle) == "$1" ]]; }

# begin_cluster NODES
begin_cluster() {
  local i
  write_config "$1"
  mkdir -p "$root/state"
  (umask 077 && head -c 128 /dev/urandom >"$root/munge.key")
  daemon munged --foreground --force --key-file="$root/munge.key" --socket="$root/munge.socket" --pid-file="$root/munged.pid" \
    --log-file="$root/munged.log" --seed-file="$root/munged.seed"
  wait_for test -S "$root/munge.socket"
  daemon slurmctld -D -c
  for ((i = 1; i <= $1; ++i)); do
    mkdir -p "$root/spool.n$i"
    daemon slurmd -D -N "n$i"
  done
  wait_for nodes_idle "$1"
}
