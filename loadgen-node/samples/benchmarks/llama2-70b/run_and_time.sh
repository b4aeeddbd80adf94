#!/bin/sh
# Runs Llama 2 70B, accuracy and then performance, and prints the wall-clock time; without arguments it tells how.
export ABOUT_DATA='folder with processed-data.json and tokenizer.json' ABOUT_MODEL=standin MIN_COUNT=24576
exec "$(dirname "$0")/../imagenet/run_and_time.sh" llama2-70b "$@"
