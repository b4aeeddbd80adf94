/**
 * Round v0.5 in the form of a mlperf.conf (the round's paper, section 4; it had no such file with
 * these keys); times in ms, percentiles in percent. MultiStream's target_latency is the arrival
 * interval of its queries.
 */
export const MLPERF_CONF_V05: string = `\
resnet50.*.performance_sample_count_override = 1024
mobilenet.*.performance_sample_count_override = 1024
ssd-mobilenet.*.performance_sample_count_override = 256
ssd-resnet34.*.performance_sample_count_override = 64
gnmt.*.performance_sample_count_override = 3903900
*.*.qsl_rng_seed = 3133965575612453542
*.*.sample_index_rng_seed = 665484352860916858
*.*.schedule_rng_seed = 3622009729038561421
*.SingleStream.target_latency_percentile = 90
*.SingleStream.min_duration = 60000
*.SingleStream.min_query_count = 1024
*.MultiStream.target_latency_percentile = 99
*.MultiStream.min_duration = 60000
*.MultiStream.min_query_count = 270336
gnmt.MultiStream.target_latency_percentile = 97
gnmt.MultiStream.min_query_count = 90112
*.Server.target_latency_percentile = 99
*.Server.min_duration = 60000
*.Server.min_query_count = 270336
resnet50.Server.target_latency = 15
mobilenet.Server.target_latency = 10
ssd-resnet34.Server.target_latency = 100
ssd-mobilenet.Server.target_latency = 10
gnmt.Server.target_latency = 250
gnmt.Server.target_latency_percentile = 97
gnmt.Server.min_query_count = 90112
*.Offline.min_duration = 60000
*.Offline.min_query_count = 24576
*.SingleStream.target_latency = 10
*.MultiStream.target_latency = 50
ssd-resnet34.MultiStream.target_latency = 66
gnmt.MultiStream.target_latency = 100
*.Server.target_qps = 1.0
*.Offline.target_qps = 1.0
`;
