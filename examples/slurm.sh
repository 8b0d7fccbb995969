#!/bin/bash
# The paper's big model on four nodes of eight devices under Slurm: `sbatch slurm.sh`. Partition, account and times are
# those of your cluster. Its steps are four times as large as the paper's, and a quarter as many: with less to do the
# devices would wait for the network, says `glassformer plan`.
#
# Two minutes before its time is up, the job is told to stop; it saves, goes back into the queue, and then goes on from
# there. A rank that dies meanwhile makes torchrun start all ranks again, from the newest checkpoint. The same command
# does all three, since `train --resume` begins a run where there is none.
#
#SBATCH --job-name=wmt14-big
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=8
#SBATCH --cpus-per-task=64
#SBATCH --mem=0
#SBATCH --time=12:00:00
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=%x-%j.out
#SBATCH --signal=B:TERM@120
#
# shellcheck disable=SC2016,SC2317  # what srun runs is expanded on its node; stop() is called by a signal
set -euo pipefail

run=${RUN:-runs/wmt14-big} # on a file system that all nodes see, as the data are
mapfile -t nodes < <(scontrol show hostnames "$SLURM_JOB_NODELIST")
agent=${TMPDIR:-/tmp}/torchrun.$SLURM_JOB_ID            # on each node: the process that looks after its ranks
export TORCH_ELASTIC_SHUTDOWN_TIMEOUT=100               # seconds in which the ranks may save
export OMP_NUM_THREADS=$((SLURM_CPUS_PER_TASK / 8))     # for each rank

stopped=
stop() {
    # Only torchrun is told, on each node, and it tells its ranks: of two signals the second would stop a training at
    # once, before it has saved.
    stopped=yes
    srun --overlap --ntasks-per-node=1 bash -c 'kill -TERM "$(cat "$0")"' "$agent" || true
}
trap stop TERM

srun bash -c 'echo $$ > "$0"; exec torchrun "$@"' "$agent" \
    --nnodes="$SLURM_NNODES" --nproc-per-node=8 --max-restarts=3 \
    --rdzv-backend=c10d --rdzv-endpoint="${nodes[0]}:29400" --rdzv-id="$SLURM_JOB_ID.${SLURM_RESTART_COUNT:-0}" \
    -m glassformer train wmt14-big --out "$run" --resume \
    --steps 75000 --set train.parallel=ddp --set train.batch_tokens=3125 &
step=$!

code=0
wait "$step" || code=$?
if [[ $stopped ]]; then
    code=0
    wait "$step" || code=$? # the first wait ended with the signal, this one ends with the training
    if ((code)); then
        scontrol requeue "$SLURM_JOB_ID"
    fi
fi
exit "$code"
