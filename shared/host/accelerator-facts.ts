import type { MachineSource } from './machine-source.ts';
import { type PciNames, readPciDevice } from './pci-names.ts';
import { cleanText, positiveValue, readText } from './read-values.ts';
import type { AcceleratorFacts, EccFacts, SystemFacts } from './system-facts.ts';

const QUERY = [
  'name',
  'memory.total',
  'ecc.mode.current',
  'clocks.max.sm',
  'pcie.link.gen.max',
  'pcie.link.width.max',
  'driver_version',
];

const PCI_DEVICES = '/sys/bus/pci/devices';

/**
 * Classes of PCI devices that compute: 3D controllers and processing accelerators. Display adapters are left out: they
 * are the console of a server. Source: PCI Code and ID Assignment Specification.
 */
const PCI_CLASSES = /^0x(0302|1200)/;

/** The accelerators, and where was looked. */
type AcceleratorSearch = Pick<SystemFacts, 'accelerators' | 'acceleratorsHow'>;

/** Asks `nvidia-smi`; other accelerators, or all without it, are seen on the PCI bus by their class alone. */
export async function acceleratorFacts(
  source: MachineSource,
  names: PciNames,
): Promise<AcceleratorSearch> {
  const query = [`--query-gpu=${QUERY.join(',')}`, '--format=csv,noheader,nounits'];
  const table = await source.output('nvidia-smi', query);
  const byTool = (table ?? '')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map(fromLine);
  const devices = await source.names(PCI_DEVICES);
  const byBus = await onPciBus(source, names, devices);
  const isNvidia = ({ id }: (typeof byBus)[number]): boolean => id.startsWith('10de:');
  const others = byTool.length > 0 ? byBus.filter((one) => !isNvidia(one)) : byBus;
  const looked = [table === null ? '' : 'nvidia-smi', devices.length === 0 ? '' : 'PCI bus'];
  return {
    accelerators: [...byTool, ...others.map(({ facts }) => facts)],
    acceleratorsHow: looked.filter((where) => where !== '').join(', ') || null,
  };
}

/** What `nvidia-smi` cannot tell it calls `[N/A]`. */
function fromLine(line: string): AcceleratorFacts {
  const values = line.split(',').map((value) => cleanText(value));
  const value = (key: string): string | null => values[QUERY.indexOf(key)] ?? null;
  const number = (key: string): number | null => positiveValue(value(key));
  const mib = number('memory.total');
  const driver = value('driver_version');
  return {
    model: value('name'),
    memoryBytes: mib === null ? null : mib * 1024 ** 2,
    ecc: eccOf(value('ecc.mode.current')),
    maxMhz: number('clocks.max.sm'),
    hostInterconnect: pcieText(number('pcie.link.gen.max'), number('pcie.link.width.max')),
    driver: driver?.startsWith('[') === true ? null : driver,
    how: 'nvidia-smi',
  };
}

function eccOf(mode: string | null): EccFacts {
  const how = `nvidia-smi ecc.mode.current: ${mode ?? 'nothing'}`;
  if (mode === 'Enabled') return { state: 'on', how };
  return { state: mode === 'Disabled' ? 'off' : null, how };
}

function pcieText(generation: number | null, width: number | null): string | null {
  return generation === null || width === null ? null : `PCIe ${generation}.0 x${width}`;
}

async function onPciBus(
  source: MachineSource,
  names: PciNames,
  devices: readonly string[],
): Promise<{ readonly id: string; readonly facts: AcceleratorFacts }[]> {
  const found: { id: string; facts: AcceleratorFacts }[] = [];
  for (const address of devices) {
    const folder = `${PCI_DEVICES}/${address}`;
    if (!PCI_CLASSES.test((await source.text(`${folder}/class`)) ?? '')) continue;
    const device = await readPciDevice(source, folder, names);
    if (device === null) continue;
    const facts: AcceleratorFacts = {
      model: device.name ?? `PCI device ${device.id}`,
      memoryBytes: null,
      ecc: { state: null, how: 'the PCI bus does not tell it' },
      maxMhz: null,
      hostInterconnect: await linkOf(source, folder),
      driver: null,
      how: 'PCI bus',
    };
    found.push({ id: device.id, facts });
  }
  return found;
}

/** Transfers per second of a lane in GT/s → generation of PCIe. */
const GENERATIONS: Readonly<Record<string, number>> = {
  '2.5': 1,
  '5.0': 2,
  '8.0': 3,
  '16.0': 4,
  '32.0': 5,
  '64.0': 6,
};

async function linkOf(source: MachineSource, folder: string): Promise<string | null> {
  const speed = await readText(source, `${folder}/max_link_speed`);
  const width = positiveValue(await source.text(`${folder}/max_link_width`));
  const generation = GENERATIONS[/^(\d+\.\d) GT\/s/.exec(speed ?? '')?.[1] ?? ''];
  return pcieText(generation ?? null, width);
}
