#!/bin/sh
# Runs GPT-J, accuracy and then performance, and prints the wall-clock time; without arguments it tells how.
export ABOUT_DATA='folder with cnn_eval.json and tokenizer.json' ABOUT_MODEL=standin MIN_COUNT=13368
exec "$(dirname "$0")/../imagenet/run_and_time.sh" gptj "$@"
