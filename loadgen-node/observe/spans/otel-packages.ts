import {
  configInvalid,
  errorCodeOf,
  notInstalled,
} from '../../../shared/base/errors/mlperf-error.ts';
import { installableName } from '../../../shared/base/files/package-files.ts';

/** Packages that export spans, by OpenTelemetry protocol; gRPC is not supported. */
const EXPORTERS = {
  'http/protobuf': '@opentelemetry/exporter-trace-otlp-proto',
  'http/json': '@opentelemetry/exporter-trace-otlp-http',
} as const;

/** Npm also installs their peer, OpenTelemetry's API. */
const SDK = ['@opentelemetry/sdk-trace-base', '@opentelemetry/resources'];

/** Environment with OpenTelemetry's own variables, which set the receiver. */
type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Loads OpenTelemetry's SDK and the exporter that the environment requests: optional peer packages,
 * loaded only by runs that export spans.
 * @throws MlperfError `ERR_NOT_INSTALLED` with the install command, `ERR_CONFIG_INVALID` for a
 *   protocol without an exporter here
 */
export async function loadOtel(environment: Environment = process.env) {
  const exporter = EXPORTERS[protocolOf(environment)];
  try {
    const [sdk, { resourceFromAttributes, detectResources, envDetector }, { OTLPTraceExporter }] =
      await Promise.all([
        import('@opentelemetry/sdk-trace-base'),
        import('@opentelemetry/resources'),
        exporter === EXPORTERS['http/json']
          ? import('@opentelemetry/exporter-trace-otlp-http')
          : import('@opentelemetry/exporter-trace-otlp-proto'),
      ]);
    // OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES take precedence.
    const own = resourceFromAttributes({ 'service.name': 'longhaul' });
    const resource = own.merge(detectResources({ detectors: [envDetector] }));
    return { sdk, resource, exporter: new OTLPTraceExporter(), url: urlOf(environment) };
  } catch (error) {
    if (errorCodeOf(error) !== 'ERR_MODULE_NOT_FOUND') throw error;
    // A version range contains spaces.
    const names = [...SDK, exporter].map((name) => `'${installableName(name)}'`);
    throw notInstalled(
      `--otel needs packages of OpenTelemetry that are not installed: run: npm install ${names.join(' ')}`,
      error,
    );
  }
}

/** OpenTelemetry, loaded. */
export type Otel = Awaited<ReturnType<typeof loadOtel>>;

function protocolOf(environment: Environment): keyof typeof EXPORTERS {
  const [name = '', asked = 'http/protobuf'] = saidOf(environment, 'PROTOCOL');
  if (Object.hasOwn(EXPORTERS, asked)) return asked as keyof typeof EXPORTERS;
  throw configInvalid(
    `${name}=${asked}: longhaul exports spans by ${Object.keys(EXPORTERS).join(' or ')}; ` +
      'a collector takes both on port 4318',
  );
}

/** URL for people; the exporter reads the same variables. */
function urlOf(environment: Environment): string {
  const [name, url = 'http://localhost:4318'] = saidOf(environment, 'ENDPOINT');
  const isWhole = name === 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT';
  return isWhole ? url : `${url.replace(/\/$/, '')}/v1/traces`;
}

/**
 * An OpenTelemetry variable and its value: the one for traces takes precedence over the one for all
 * signals.
 */
function saidOf(environment: Environment, what: string): [name?: string, value?: string] {
  const names = [`OTEL_EXPORTER_OTLP_TRACES_${what}`, `OTEL_EXPORTER_OTLP_${what}`];
  const name = names.find((one) => (environment[one] ?? '').trim() !== '');
  return name === undefined ? [] : [name, environment[name]?.trim() as string];
}
