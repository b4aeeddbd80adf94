#!/bin/sh
# Runs Mixtral 8x7B, accuracy and then performance, and prints the wall-clock time; without arguments it tells how.
export ABOUT_DATA='folder with 2024.06.06_mixtral_15k_v4.json and tokenizer.json' ABOUT_MODEL=standin MIN_COUNT=15000
exec "$(dirname "$0")/../imagenet/run_and_time.sh" mixtral-8x7b "$@"
