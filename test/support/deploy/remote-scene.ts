import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SeenState } from '../../../loadgen-node/operate/remote/agent/agent-words.ts';
import type { InstallContext } from '../../../loadgen-node/operate/remote/hosts-of-inventory.ts';
import { readInventory } from '../../../loadgen-node/operate/remote/inventory/read-inventory.ts';
import type { MeasureOptions } from '../../../loadgen-node/operate/remote/measure.ts';
import { Packages } from '../../../loadgen-node/operate/remote/packages/plan-packages.ts';
import { RUN_SETTINGS } from '../../../loadgen-node/run/plan/run-settings.ts';
import { SUT_OPTIONS } from '../../../sut-node/settings/sut-options.ts';
import { tempFolder } from '../process/temp-folder.ts';
import { type Behaviour, type FakeCall, FakeHost } from './fake-hosts.ts';

/** A controller with three hosts that are objects. */
export interface RemoteScene {
  readonly context: InstallContext;
  readonly hosts: Record<'lg' | 'a' | 'b', FakeHost>;
  readonly said: string[];
  readonly controller: AbortController;
  readonly folder: string;
}

type Behaviours = { readonly [K in 'lg' | 'a' | 'b']?: Behaviour };

/** An inventory of a LoadGen host and two SUT nodes. Call it inside a test. @param states What host `a` has running */
export async function remoteScene(
  behaviours: Behaviours = {},
  states: SeenState[] = [],
): Promise<RemoteScene> {
  const folder = tempFolder();
  const path = join(folder, 'hosts.yaml');
  const text = `
command: /opt/longhaul
loadgen: { ssh: lg }
sut:
  - { ssh: a, node: sut-a, address: a:50051 }
  - { ssh: b, node: sut-b, address: b:50051 }
sutSettings: { benchmark: "null" }
tls: { folder: tls }
`;
  writeFileSync(path, text);
  for (const holder of ['loadgen', 'sut-a', 'sut-b']) {
    mkdirSync(join(folder, 'tls', holder), { recursive: true });
    for (const file of ['tls.crt', 'tls.key', 'ca.crt', 'token']) {
      writeFileSync(join(folder, 'tls', holder, file), `secret ${file} of ${holder}`);
    }
  }
  const inventory = readInventory(path, { run: RUN_SETTINGS, sut: SUT_OPTIONS, runFlags: {} });
  const hosts = {
    lg: new FakeHost('lg', { exec: answerName, ...behaviours.lg }),
    a: new FakeHost('a', behaviours.a, { states }),
    b: new FakeHost('b', behaviours.b),
  };
  const controller = new AbortController();
  const said: string[] = [];
  const context: InstallContext = {
    inventory,
    packages: await Packages.plan(inventory),
    openLink: ({ ssh }) => hosts[ssh as 'lg' | 'a' | 'b'],
    host: { report: (line) => said.push(line), signal: controller.signal },
  };
  return { context, hosts, said, controller, folder };
}

/** LoadGen's answer to the question for names; a run goes on until the test ends it. */
const answerName = (call: FakeCall): void => {
  if (call.request.verb !== 'exec' || !call.request.argv.includes('name')) return;
  call.output('{"durationNs": 1000000}');
  call.end();
};

/** The run among what a LoadGen host was asked for, once it is. */
export async function theRun(host: FakeHost): Promise<FakeCall> {
  for (;;) {
    const run = host.calls.find(
      ({ request }) => request.verb === 'exec' && request.argv.includes('run'),
    );
    if (run !== undefined) return run;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Of `remote run --output <folder>/out`. */
export const measureOptions = (folder: string): MeasureOptions => ({
  ...{ output: join(folder, 'out'), isJson: false, isKeeping: false },
  ...{ onOutput: () => {}, onStderr: () => {} },
});
