#!/bin/sh
# Runs ResNet-50, accuracy and then performance, and prints the wall-clock time; without arguments it tells how.
exec "$(dirname "$0")/../imagenet/run_and_time.sh" resnet50 "$@"
