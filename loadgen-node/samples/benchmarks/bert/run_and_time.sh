#!/bin/sh
# Runs BERT, accuracy and then performance, and prints the wall-clock time; without arguments it tells how.
export ABOUT_DATA='folder with dev-v1.1.json and vocab.txt' ABOUT_MODEL='standin, or standin-free' MIN_COUNT=10833
exec "$(dirname "$0")/../imagenet/run_and_time.sh" bert "$@"
