/** Records of a run by their keys of today; the values as JSON texts. */
type Log = Readonly<Record<string, string>>;

const SCENARIOS: Readonly<Record<string, string>> = {
  SingleStream: 'Single Stream',
  MultiStream: 'Multi Stream',
};

const MODES: Readonly<Record<string, string>> = {
  PerformanceOnly: 'Performance',
  AccuracyOnly: 'Accuracy',
};

/**
 * Detail log and summary as LoadGen wrote them in rounds v0.5 and v0.7: lines of text, and the
 * results in the summary alone.
 */
export function oldLogs(log: Log): { readonly detail: string; readonly summary: string } {
  const text = (key: string): string => String(JSON.parse(log[key] ?? '""'));
  const [scenario, mode] = [text('effective_scenario'), text('effective_test_mode')];
  const settings = Object.keys(log)
    .filter((key) => key.startsWith('effective_') && key !== 'effective_scenario')
    .filter((key) => key !== 'effective_test_mode')
    .map((key) => `${settingLabel(key.slice('effective_'.length))}: ${log[key]}`);
  const ofScenario = `Scenario : ${SCENARIOS[scenario] ?? scenario}`;
  const messages = [
    'LoadgenVersionInfo:',
    `version : ${text('loadgen_version')}`,
    `build_date_local : ${text('loadgen_build_date_local')}`,
    'git_log :\n\n0b2d a commit of the test\n',
    'SHA1 of files :\n\n012aad77e5206c89d50718c46c119d1f3cb056b2 /loadgen.cc\n',
    `Date + time of test: ${text('test_datetime')}`,
    `System Under Test (SUT) name: ${text('sut_name')}`,
    `Query Sample Library (QSL) name: ${text('qsl_name')}`,
    `QSL total size: ${text('qsl_reported_total_count')}`,
    `QSL performance size*: ${text('qsl_reported_performance_count')}`,
    '*TestSettings (performance_sample_count_override) can override',
    '',
    'Effective Settings:',
    ofScenario,
    `Test mode : ${MODES[mode] ?? mode}`,
    ...settings,
    '',
    'Requested Settings:',
    ofScenario,
    '',
    'Starting performance mode:',
    'Loading QSL : "set" : "[3,1,2]"',
    'GeneratedQueries: "queries" : 7, "samples per query" : 2, "duration" : 123',
    'POWER_BEGIN: "mode" : Performance, "time" : 10-30-2019 19:54:35.665',
    'POWER_END: "mode" : Performance, "time" : 10-30-2019 20:04:20.677',
  ];
  return {
    detail: messages
      .map((message, i) => `"pid": 7, "tid": 8, "ts": ${i}ns : ${message}\n`)
      .join(''),
    summary: mode === 'AccuracyOnly' ? NO_ERRORS : summaryOf(log, text, settings),
  };
}

const NO_ERRORS = '\nNo warnings encountered during test.\n\nNo errors encountered during test.\n';

function summaryOf(log: Log, text: (key: string) => string, settings: readonly string[]): string {
  const scenario = text('effective_scenario');
  const latencies = (add: number) =>
    ['50.00', '90.00', '99.00'].map(
      (percentile) =>
        `${percentile} percentile latency (ns)   : ${latencyOf(log, percentile) + add}`,
    );
  return [
    'MLPerf Results Summary',
    `SUT name : ${text('sut_name')}`,
    `Scenario : ${SCENARIOS[scenario] ?? scenario}`,
    'Mode     : Performance',
    ...(scenario === 'Offline' ? [`Samples per second: ${text('result_samples_per_second')}`] : []),
    ...(scenario === 'Server'
      ? [`Scheduled samples per second : ${text('result_scheduled_samples_per_sec')}`]
      : []),
    `Result is : ${text('result_validity')}`,
    ...(scenario === 'Offline' ? [] : ['  Performance constraints satisfied : Yes']),
    '  Min duration satisfied : Yes',
    '  Min queries satisfied : Yes',
    '',
    ...(scenario === 'Server'
      ? [`Completed samples per second    : ${text('result_completed_samples_per_sec')}`, '']
      : []),
    ...(scenario === 'MultiStream'
      ? [
          'Intervals between each IssueQuery:  "qps" : 20, "ms" : 50',
          '99.00 percentile : 1',
          '',
          'Per-query latency:  "target_ns" : 50000000, "target_ms" : 50',
          ...latencies(1000),
          '',
          'Per-sample latency:',
        ]
      : []),
    'Min latency (ns)                : 40',
    'Max latency (ns)                : 60',
    'Mean latency (ns)               : 45',
    ...latencies(0),
    '',
    'Test Parameters Used',
    ...settings,
    NO_ERRORS,
  ].join('\n');
}

function latencyOf(log: Log, percentile: string): number {
  return Number(log[`result_${percentile}_percentile_latency_ns`] ?? 50);
}

/** The label of a setting, with the blank or the unit that LoadGen wrote before the colon. */
function settingLabel(name: string): string {
  const [, base, unit] = /^(target_latency|min_duration)_(ns|ms)$/.exec(name) ?? [];
  return unit === undefined ? `${name} ` : `${base} (${unit})`;
}
