import { z } from 'zod';
import { OIP_ELEMENT_BYTES, type OipDataType } from '../../../shared/domain/data-types.ts';
import type { OipTensor } from '../../../shared/domain/tensors.ts';
import type {
  OipDuration,
  OipEvidence,
  OipNodeEvidence,
} from '../../../shared/evidence/oip-evidence.ts';
import { OIP_METHODS } from '../../../shared/wire/oip/request-plan.ts';

const count = z.int().min(0);
const datatype = z.enum(Object.keys(OIP_ELEMENT_BYTES) as [OipDataType, ...OipDataType[]]);

const tensor: z.ZodType<OipTensor> = z.object({
  name: z.string(),
  datatype,
  shape: z.array(z.int()),
});

// Differences of a server's own counters: whatever it says.
const duration: z.ZodType<OipDuration> = z.object({ count: z.number(), ns: z.number() });

/** What an audit keeps of a node that speaks the Open Inference Protocol. */
export const oipNodeEvidence: z.ZodType<OipNodeEvidence> = z.object({
  serverName: z.string(),
  serverVersion: z.string(),
  extensions: z.array(z.string()),
  modelName: z.string(),
  modelVersions: z.array(z.string()),
  platform: z.string(),
  modelSha256: z.string().optional(),
  inputs: z.array(tensor),
  outputs: z.array(tensor),
  requestCount: count,
  trialCount: count,
  statistics: z
    .object({
      inferenceCount: z.number(),
      executionCount: z.number(),
      success: duration,
      fail: duration,
      queue: duration,
      computeInput: duration,
      computeInfer: duration,
      computeOutput: duration,
    })
    .nullable(),
});

/** What it keeps of a run over the Open Inference Protocol. */
export const oipEvidence: z.ZodType<OipEvidence> = z.object({
  service: z.string(),
  plan: z
    .object({
      model: z.object({ name: z.string(), version: z.string() }),
      payloadForm: z.enum(['tensors', 'fields']),
      inputs: z.array(
        z.object({
          name: z.string(),
          datatype,
          sampleShape: z.array(count),
          sampleBytes: count,
        }),
      ),
      hasBatchAxis: z.boolean(),
      samplesPerRequest: z.int().min(1),
      outputs: z.array(tensor),
      method: z.enum(OIP_METHODS),
    })
    .nullable(),
  notes: z.array(z.string()),
});
