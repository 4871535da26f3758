#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Slurm: each task of the array does one share of the videos.
#
#   sbatch --array=0-31 slurm_array.sh --elements ELEMENTS --output DIR VIDEO|FOLDER|LIST...
#   sbatch --array=0-31 --gpus=1 slurm_array.sh ...      one GPU for each task
#
# The array may be run again at any time: what is done is not done again. Its first and last task and its number of
# tasks may change from run to run, but it has no gaps. BATCH: the path of batch.py, the same on all nodes.
#SBATCH --job-name=batch
#SBATCH --array=0-7
#SBATCH --cpus-per-task=1
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=batch-%A_%a.log
set -euo pipefail
batch=${BATCH:-/usr/share/gst-cudavision/examples/batch/batch.py}
((SLURM_ARRAY_TASK_MAX - SLURM_ARRAY_TASK_MIN + 1 == SLURM_ARRAY_TASK_COUNT)) ||
  { echo "the array has gaps: a share that belongs to no task would never be done" >&2; exit 2; }
# exec: signals reach the program
exec "$batch" --shard "$((SLURM_ARRAY_TASK_ID - SLURM_ARRAY_TASK_MIN))/$SLURM_ARRAY_TASK_COUNT" "$@"
