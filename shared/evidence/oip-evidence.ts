import type {
  Evidence,
  oipDuration,
  oipEvidence,
  oipNodeEvidence,
  oipStatistics,
} from './evidence-schema.ts';

/** Time that a server says it spent, over all requests of a run: a sum of lengths, and how many they are. */
export type OipDuration = Evidence<typeof oipDuration>;

/** What a server's own statistics of the model grew by during a run. */
export type OipStatistics = Evidence<typeof oipStatistics>;

/** What is known of a node that speaks the Open Inference Protocol, beside what all nodes have. */
export type OipNodeEvidence = Evidence<typeof oipNodeEvidence>;

/** What is known of a run over the Open Inference Protocol. */
export type OipEvidence = Evidence<typeof oipEvidence>;
