#!/bin/sh
# Runs 3D U-Net, accuracy and then performance, and prints the wall-clock time; without arguments it tells how. A volume every
# ten seconds is expected, where nothing else is said.
export ABOUT_DATA='folder with the cases of KiTS19, pre-processed or not' ABOUT_MODEL=standin MIN_COUNT=43
script=$(dirname "$0")/../imagenet/run_and_time.sh
[ "$#" -ge 2 ] || exec "$script" 3d-unet "$@"
data=$1
model=$2
shift 2
exec "$script" 3d-unet "$data" "$model" --target-qps 0.1 "$@"
