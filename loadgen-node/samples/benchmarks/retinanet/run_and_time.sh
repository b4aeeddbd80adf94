#!/bin/sh
# Runs RetinaNet, accuracy and then performance, and prints the wall-clock time; without arguments it tells how.
export ABOUT_DATA='folder with annotations/openimages-mlperf.json and validation/data/*.jpg' ABOUT_MODEL=standin
exec "$(dirname "$0")/../imagenet/run_and_time.sh" retinanet "$@"
