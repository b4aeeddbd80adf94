import type { MachineSource } from './machine-source.ts';
import { type PciNames, readPciDevice } from './pci-names.ts';
import { cleanText, FactFolder, joined, positiveValue } from './read-values.ts';
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
const NVIDIA = '10de:';

/**
 * Classes of PCI devices that compute: 3D controllers and processing accelerators. Display adapters are left out: they
 * are the console of a server. Source: PCI Code and ID Assignment Specification.
 */
const PCI_CLASSES = /^0x(0302|1200)/;

/** Asks `nvidia-smi`; other accelerators, or all without it, are seen on the PCI bus by their class alone. */
export async function acceleratorFacts(
  source: MachineSource,
  names: PciNames,
): Promise<Pick<SystemFacts, 'accelerators' | 'acceleratorsHow'>> {
  const query = [`--query-gpu=${QUERY.join(',')}`, '--format=csv,noheader,nounits'];
  const table = await source.output('nvidia-smi', query);
  const lines = (table ?? '').split('\n').filter((line) => line.trim() !== '');
  const devices = await source.names(PCI_DEVICES);
  const looked = [table === null ? null : 'nvidia-smi', devices.length === 0 ? null : 'PCI bus'];
  const accelerators = lines.map(fromLine);
  for (const address of devices) {
    const folder = new FactFolder(source, `${PCI_DEVICES}/${address}`);
    if (!PCI_CLASSES.test((await folder.text('class')) ?? '')) continue;
    const device = await readPciDevice(folder, names);
    if (device === null) continue;
    // The tool has told all cards of its maker.
    if (lines.length > 0 && device.id.startsWith(NVIDIA)) continue;
    accelerators.push(await fromBus(folder, device.name ?? `PCI device ${device.id}`));
  }
  return { accelerators, acceleratorsHow: joined(looked, ', ') };
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

/** Transfers per second of a lane in GT/s → generation of PCIe. */
const GENERATIONS: Readonly<Record<string, number>> = {
  '2.5': 1,
  '5.0': 2,
  '8.0': 3,
  '16.0': 4,
  '32.0': 5,
  '64.0': 6,
};

async function fromBus(folder: FactFolder, model: string): Promise<AcceleratorFacts> {
  const speed = await folder.line('max_link_speed');
  const generation = GENERATIONS[/^(\d+\.\d) GT\/s/.exec(speed ?? '')?.[1] ?? ''];
  return {
    model,
    memoryBytes: null,
    ecc: { state: null, how: 'the PCI bus does not tell it' },
    maxMhz: null,
    hostInterconnect: pcieText(generation ?? null, await folder.number('max_link_width')),
    driver: null,
    how: 'PCI bus',
  };
}
