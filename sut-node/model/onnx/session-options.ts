import type { InferenceSession } from 'onnxruntime-node';
import type { RuntimeSettings } from '../../settings/model-settings.ts';
import { sessionLogLevel } from './onnxruntime.ts';

/** Options of ONNX Runtime for a model that is given as bytes. @param modelFolder Where its other files lie. */
export function sessionOptions(
  settings: RuntimeSettings,
  modelFolder: string,
): InferenceSession.SessionOptions {
  return {
    logSeverityLevel: sessionLogLevel(),
    executionProviders: [...settings.providers],
    intraOpNumThreads: settings.threadsPerWorker,
    interOpNumThreads: settings.interThreads,
    executionMode: settings.executionMode,
    graphOptimizationLevel: settings.graphLevel,
    enableCpuMemArena: settings.memoryArena === 'on',
    enableMemPattern: settings.memoryPattern === 'on',
    extra: {
      session: {
        intra_op: { allow_spinning: settings.spinning === 'on' ? '1' : '0' },
        inter_op: { allow_spinning: settings.spinning === 'on' ? '1' : '0' },
        // ONNX Runtime takes the CPU for whatever no other provider takes, and says nothing of it.
        disable_cpu_ep_fallback: settings.providers.includes('cpu') ? '0' : '1',
        // Weights in files of their own are named relative to the model's file.
        model_external_initializers_file_folder_path: modelFolder,
      },
    },
  };
}
