#!/bin/sh
# Runs DLRM-DCNv2, accuracy and then performance, and prints the wall-clock time; without arguments it tells how.
export ABOUT_DATA='folder with the three day_23 files' ABOUT_MODEL=standin
exec "$(dirname "$0")/../imagenet/run_and_time.sh" dlrm-v2 "$@"
