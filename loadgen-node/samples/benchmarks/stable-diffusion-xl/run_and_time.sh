#!/bin/sh
# Runs Stable Diffusion XL, accuracy and then performance, and prints the wall-clock time; without arguments it tells how.
export ABOUT_DATA='folder with captions/captions.tsv, tokenizer and tokenizer_2' ABOUT_MODEL=standin
exec "$(dirname "$0")/../imagenet/run_and_time.sh" stable-diffusion-xl "$@"
