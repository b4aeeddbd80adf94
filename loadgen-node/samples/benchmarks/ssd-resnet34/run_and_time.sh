#!/bin/sh
# Runs SSD ResNet34, accuracy and then performance, and prints the wall-clock time; without arguments it tells how.
export ROUND=v0.5 MIN_DURATION=60s ABOUT_DATA='folder with annotations/instances_val2017.json and val2017/*.jpg' ABOUT_MODEL=standin
exec "$(dirname "$0")/../imagenet/run_and_time.sh" ssd-resnet34 "$@"
