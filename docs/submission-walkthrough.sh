#!/usr/bin/env bash
# From nothing to checked and packed submission trees, with the stand-in of a benchmark (docs/submit.md).
#
#   submission-walkthrough.sh [--dry-run-lengths] OUT
#
# OUT is made; runs that are there already are not made again, so that the script can be started again. A run is made
# again where its folder, or the file "done" in it, is removed. Start it in the clone, or where longhaul is installed.
#
# The environment changes: LONGHAUL (the program; default npx longhaul), BENCHMARK (resnet50), ROUNDS ("v4.1 v5.0",
# without one whose Network division lacks the model), SCENARIOS (those of the benchmark; with ROUNDS=v5.1 llama2-70b
# may have "Interactive Offline"), SUT (host:port of a node of yours; default: one is started here on LISTEN), LISTEN
# (127.0.0.1:50051), SERVER_QPS, OFFLINE_QPS, ACCURACY_QPS (target rates), MODEL (standin), DATA_DIR (standin; of
# llama2-70b and mixtral-8x7b standin-long, whose answers are as long as the rules want), RESULT_MODEL (of several
# models of the benchmark: bert-99.9), DATA_COUNT (samples of the stand-in's data set, or all; so few that they miss
# the accuracy's target are for a dry run alone), SUT_FLAGS, RUN_FLAGS (further flags of the node and of runs),
# TEST_ATTEMPTS (2).
set -euo pipefail

is_dry=no
if [ "${1:-}" = --dry-run-lengths ]; then
  is_dry=yes
  shift
fi
if [ $# -ne 1 ]; then
  echo "usage: $0 [--dry-run-lengths] OUT" >&2
  exit 2
fi
mkdir -p "$1"
out=$(cd "$1" && pwd)

read -ra longhaul <<<"${LONGHAUL:-npx longhaul}"
benchmark=${BENCHMARK:-resnet50}
model=${MODEL:-standin}
read -ra sut_flags <<<"${SUT_FLAGS:-}"
read -ra run_flags <<<"${RUN_FLAGS:-}"
# The model whose target a result is held to, its scenarios and tests (v4.1 has TEST05 beside them), and what goes in.
result_model=$benchmark scenarios="Server Offline" tests_of_rounds="TEST01" input_data_types=uint8
# Target rates of Server, Offline and accuracy runs.
rates="5 40 30" own_data=standin
case $benchmark in
  resnet50) tests_of_rounds="TEST01 TEST04" ;;
  retinanet) ;;
  bert) result_model=bert-99 input_data_types=int32 ;;
  3d-unet) result_model=3d-unet-99 scenarios=Offline input_data_types=fp32 ;;
  dlrm-v2) result_model=dlrm-v2-99 input_data_types=fp32 ;;
  gptj) result_model=gptj-99 tests_of_rounds='' input_data_types=int32 rates="0.5 2 2" ;;
  llama2-70b)
    result_model=llama2-70b-99 tests_of_rounds=TEST06 input_data_types=int32
    rates="0.8 1 10" own_data=standin-long
    ;;
  mixtral-8x7b) tests_of_rounds=TEST06 input_data_types=int32 rates="0.7 3 10" own_data=standin-long ;;
  stable-diffusion-xl) tests_of_rounds="TEST01 TEST04" input_data_types=int32 rates="0.5 1 1" ;;
  *)
    echo "$0: BENCHMARK=$benchmark: there is: resnet50, bert, retinanet, 3d-unet, dlrm-v2, gptj, llama2-70b, mixtral-8x7b, stable-diffusion-xl" >&2
    exit 2
    ;;
esac
result_model=${RESULT_MODEL:-$result_model}
scenarios=${SCENARIOS:-$scenarios}
data_dir=${DATA_DIR:-$own_data}
read -r rate_server rate_offline rate_accuracy <<<"$rates"
server_qps=${SERVER_QPS:-$rate_server}
offline_qps=${OFFLINE_QPS:-$rate_offline}
accuracy_qps=${ACCURACY_QPS:-$rate_accuracy}

# --- rounds: a result of another model, or with other scenarios, is refused when its tree is built. So before all runs:
problem_of_round() { # what config benchmarks tells, round
  node -e '
    const [told, benchmark, model, said, round] = process.argv.slice(1);
    const { submissions } = JSON.parse(told).benchmarks.find(({ name }) => name === benchmark);
    const all = submissions.filter((one) => one.model === model);
    const own = all.find((one) => one.round === round);
    const there = all.map((one) => one.round).join(" ");
    const scenarios = said.split(" ");
    const isIn = (scenario) => scenarios.includes(scenario);
    if (own === undefined) {
      console.log(`${round} has no ${model} in the Network division; ${there === "" ? "no round has" : `it is in ${there}`}`);
    } else if (
      !own.required.every(isIn) ||
      (own.oneOf.length > 0 && !own.oneOf.some(isIn)) ||
      !scenarios.every((one) => own.required.includes(one) || own.oneOf.includes(one))
    ) {
      const wanted = [...own.required, ...(own.oneOf.length > 0 ? [own.oneOf.join(" or ")] : [])].join(", ");
      console.log(`${round} wants of ${model}: ${wanted}; SCENARIOS is "${said}"`);
    }
  ' "$1" "$benchmark" "$result_model" "$scenarios" "$2"
}
benchmarks=$("${longhaul[@]}" config benchmarks --json)
rounds=
for round in ${ROUNDS:-v4.1 v5.0}; do
  problem=$(problem_of_round "$benchmarks" "$round")
  if [ -z "$problem" ]; then
    rounds="$rounds $round"
  elif [ -n "${ROUNDS:-}" ]; then
    echo "$0: $problem" >&2
    exit 2
  else
    echo "$0: note: $problem: $round is left out" >&2
  fi
done
if [ -z "$rounds" ]; then
  echo "$0: no round is left: say ROUNDS" >&2
  exit 2
fi
# The rules' lengths, bounds and counts come from the round's mlperf.conf: 600 s and more. A dry run says others.
if [ "$benchmark" = resnet50 ]; then full_count=50000 dry_count=1024; else full_count=all dry_count=all; fi
data_count=${DATA_COUNT:-$full_count}
attempts=${TEST_ATTEMPTS:-2}
server_flags=()
offline_flags=()
build_flags=()
if [ "$is_dry" = yes ]; then
  data_count=${DATA_COUNT:-$dry_count}
  # TEST05's seeds draw a Server rate that is 5 % lower than the official ones' in 100 queries, and 1 % higher in 300.
  case $benchmark in
    resnet50 | retinanet | bert | dlrm-v2) server_count=300 ;;
    *) server_count=100 ;;
  esac
  short=(--min-duration 10s --min-query-count)
  bounds=(--target-latency 1s --target-latency-percentile 90)
  case $benchmark in
    gptj | stable-diffusion-xl) bounds[1]=20s ;;
    llama2-70b | mixtral-8x7b) bounds=(--target-latency-percentile 90) ;;
  esac
  server_flags=("${short[@]}" "$server_count" "${bounds[@]}" --generator-lag-max 50)
  offline_flags=("${short[@]}" 100)
  build_flags=(--dry-run-lengths)
fi
data=(--data-dir "$data_dir")
if [[ $data_dir =~ ^standin(-long)?$ ]] && [ "$data_count" != all ]; then data+=(--data-count "$data_count"); fi

# --- the system under test: a node of your own (SUT=host:port), or one that is started here
if [ -z "${SUT:-}" ]; then
  SUT=${LISTEN:-127.0.0.1:50051}
  if "${longhaul[@]}" probe name --sut "$SUT" >/dev/null 2>&1; then
    echo "$0: somebody answers at $SUT already: SUT=$SUT measures that node, LISTEN=host:port starts one elsewhere" >&2
    exit 4
  fi
  "${longhaul[@]}" sut --benchmark "$benchmark" --model "$model" --node sut-walkthrough --listen "$SUT" \
    ${sut_flags[@]+"${sut_flags[@]}"} --progress hidden >"$out/sut.log" 2>&1 &
  sut_process=$!
  trap 'kill "$sut_process" 2>/dev/null || true; wait "$sut_process" 2>/dev/null || true' EXIT
  for _ in $(seq 600); do
    if ! kill -0 "$sut_process" 2>/dev/null; then
      cat "$out/sut.log" >&2
      exit 4
    fi
    if "${longhaul[@]}" probe name --sut "$SUT" >/dev/null 2>&1; then break; fi
    sleep 1
  done
fi

# --- runs. One that is INVALID ends the script: nothing can be compared with it, nor submitted. A test that failed is made
# again, since a busy machine fails it as well; failed again, it goes into a dry run's tree as it is, and ends any other;
# and so with a run that lacks nothing but the accuracy, which is the same each time
misses_accuracy_alone() { # folder
  [ -e "$1/longhaul_summary.json" ] && node -e '
    const { reasons } = JSON.parse(require("node:fs").readFileSync(process.argv[1], "utf8")).verdict;
    process.exit(reasons.length > 0 && reasons.every(({ rule }) => rule === "quality") ? 0 : 1);
  ' "$1/longhaul_summary.json" 2>/dev/null
}

make_run() { # folder, how often at most, then the command
  local folder=$1 attempts=$2 code=0 advice is_test=no
  shift 2
  if [ -e "$folder/done" ]; then return; fi
  for attempt in $(seq "$attempts"); do
    echo "== ${folder#"$out"/}$(if [ "$attempt" -gt 1 ]; then echo ", again"; fi)"
    mkdir -p "$folder"
    code=0
    "$@" >"$folder/report.txt" 2>"$folder/errors.txt" || code=$?
    grep -E '^(VALID|INVALID|Accuracy|TEST)' "$folder/report.txt" || true
    if [ "$code" -ne 3 ]; then break; fi
  done
  advice="start the script again to make it again"
  if [[ ${folder##*/} == TEST* ]]; then
    is_test=yes
    advice="$advice (and remove ${folder%/*}/performance if that run was the unusual one)"
  fi
  if [ "$code" -eq 3 ] && misses_accuracy_alone "$folder"; then
    if [ "$is_dry" = yes ]; then
      echo "$0: ${folder#"$out"/} misses the accuracy's target; a dry run goes on" >&2
      code=0
    elif [ -n "${DATA_COUNT:-}" ]; then
      advice="the same samples have the same accuracy each time: leave DATA_COUNT out"
    else
      advice="the same model and samples have the same accuracy each time: another MODEL or DATA_DIR has another"
    fi
  fi
  if [ "$code" -eq 3 ] && [ "$is_test" = yes ] && [ "$is_dry" = yes ]; then
    echo "$0: ${folder#"$out"/} failed; a dry run goes on" >&2
  elif [ "$code" -ne 0 ]; then
    tail -n 30 "$folder/report.txt" "$folder/errors.txt" >&2
    echo "$0: ${folder#"$out"/} ended with exit code $code; $advice" >&2
    exit "$code"
  fi
  touch "$folder/done"
}

measure() { # round, scenario, target rate, then further flags
  local round=$1 scenario=$2 qps=$3 runs="$out/$1/runs/$2" tests=$tests_of_rounds of_runs=$benchmark
  # Server by tighter bounds, with a name of its own.
  if [ "$scenario" = Interactive ]; then of_runs=$benchmark-interactive; fi
  shift 3
  if [ "$round" = v4.1 ] && [ "$benchmark" != stable-diffusion-xl ] && [[ $tests == *TEST01* ]]; then tests="$tests TEST05"; fi
  # gptj has its test from v5.0 on; LoadGen counts its tokens only where a file says so.
  local test_flags=()
  if [ "$benchmark" = gptj ] && [ "$round" != v4.1 ]; then
    tests=TEST06 test_flags=(--user-conf "$out/gptj-tokens.conf")
    echo 'gptj.*.use_token_latencies = 1' >"$out/gptj-tokens.conf"
  fi
  local common=("${longhaul[@]}" run --sut "$SUT" --benchmark "$of_runs" --round "$round" --scenario "${scenario/Interactive/Server}" --digest 10 "${data[@]}"
    ${run_flags[@]+"${run_flags[@]}"})
  make_run "$runs/accuracy" 1 "${common[@]}" --mode accuracy --target-qps "$accuracy_qps" --output "$runs/accuracy" --force
  make_run "$runs/performance" 1 "${common[@]}" --target-qps "$qps" "$@" --output "$runs/performance" --force
  for test in $tests; do
    make_run "$runs/$test-report" "$attempts" "${longhaul[@]}" compliance "$test" --run "$runs/performance" \
      --model "$result_model" --accuracy-run "$runs/accuracy" --output "$runs/compliance" --force \
      ${test_flags[@]+"${test_flags[@]}"}
  done
}

# --- what only the submitter knows; everything else is read of the machines
describe() {
  cat >"$out/submitter.yaml" <<'YAML'
submitter: ACME
status: available
system_name: walkthrough
cooling: air
accelerator_model_name: N/A
host_processor_interconnect: N/A
network_type: Ethernet
network_media: Copper
network_topology: LoadGen node connected to the SUT node through one switch
YAML
  "${longhaul[@]}" submission system describe --sut "$SUT" --merge "$out/submitter.yaml" --output "$out/systems/walkthrough.json" --force
}

write_config() { # round
  cat >"$out/$1/submission.yaml" <<YAML
submission:
  submitter: ACME
  round: $1
  systems:
    walkthrough:
      file: ../systems/walkthrough.json
      data_path: NIC, PCIe, host memory; the model runs on the host's processors.
      data_path_evidence: 'TODO: a specification or a measurement of this machine'
      network:
        sut_nodes: [sut-walkthrough]
        components:
          - { id: sw1, kind: switch, name: 'TODO: make and model of the switch' }
        links:
          - { from: loadgen, to: sw1, media: copper, rate: 10G }
          - { from: sw1, to: sut-walkthrough, media: copper, rate: 10G }
  implementations:
    longhaul:
      weights:
        - source: $(weights_source)
          sha256: '$(model_sha256)'
      software:
        - { name: Linux distribution, version: 'TODO: name and version', method: binary, release: production }
      calibration: { text: The fp32 weights are used as they are; there is no calibration. }
      starting_weights_filename: $(model_file)
      weight_data_types: fp32
      weight_transformations: 'No'
      input_data_types: $input_data_types
      retraining: 'No'
  results:
$(for scenario in $scenarios; do
    cat <<RESULT
    - divisions: [network, closed, open]
      system: walkthrough
      implementation: longhaul
      model: $result_model
      scenario: $scenario
      performance: runs/$scenario/performance
      accuracy: runs/$scenario/accuracy
      compliance: runs/$scenario/compliance
RESULT
  done)
YAML
}

# The SUT node reports name and hash of its model; they are in the evidence of every run.
model_field() { # name or sha256
  local audits=("$out"/v*/runs/*/performance/network_audit.json)
  node -p "JSON.parse(require('node:fs').readFileSync(process.argv[1])).nodes[0].description.model.$1" "${audits[0]}"
}

model_sha256() {
  model_field sha256
}

model_file() {
  echo "$(model_field name).onnx"
}

weights_source() {
  if [ "$model" = standin ] || [ "$model" = standin-int8 ]; then
    echo made by longhaul
  else
    echo "'TODO: where the weights can be had'"
  fi
}

result=0
for round in $rounds; do
  for scenario in $scenarios; do
    case $scenario in
      Server | Interactive) measure "$round" "$scenario" "$server_qps" ${server_flags[@]+"${server_flags[@]}"} ;;
      *) measure "$round" "$scenario" "$offline_qps" ${offline_flags[@]+"${offline_flags[@]}"} ;;
    esac
  done
  describe
  write_config "$round"
  tree="$out/$round/tree"
  "${longhaul[@]}" submission build --config "$out/$round/submission.yaml" --output "$tree" --force ${build_flags[@]+"${build_flags[@]}"}
  "${longhaul[@]}" submission truncate "$tree" --round "$round" --backup "$out/$round/originals-$(date +%s)"
  code=0
  "${longhaul[@]}" submission check "$tree" --round "$round" --json "$out/$round/check.json" >"$out/$round/check.txt" || code=$?
  cat "$out/$round/check.txt"
  if [ "$code" -ne 0 ]; then result=$code; fi
  if [ "$code" -eq 0 ]; then
    "${longhaul[@]}" submission pack "$tree" --round "$round" --output "$out/$round/acme.tar.gz.age" --new-key-file "$out/$round/acme.key"
  fi
done
exit "$result"
