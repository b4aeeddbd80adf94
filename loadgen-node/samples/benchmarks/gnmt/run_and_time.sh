#!/bin/sh
# Runs GNMT, accuracy and then performance, and prints the wall-clock time; without arguments it tells how.
export ABOUT_DATA='folder with newstest2014.tok.bpe.32000.en and .de' ABOUT_MODEL=standin
exec "$(dirname "$0")/../imagenet/run_and_time.sh" gnmt "$@"
