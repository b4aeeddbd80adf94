import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type MachineSource, machineAt } from '../../../../shared/host/machine-source.ts';
import {
  gatherSystemFacts,
  type SystemFacts,
  systemFactsSchema,
} from '../../../../shared/host/system-facts.ts';
import { suiteFolder, tempFolder } from '../../../scenes/host/folders.ts';
import {
  armTree,
  containerTree,
  dmiTable,
  laptopTree,
  type MachineTree,
  plantMachine,
  SECRETS,
  serverTree,
  withFile,
} from '../../../scenes/host/machines.ts';

// Goal: what is there is read, what is not is null, and nothing that must stay secret comes out.
// Method: folders that look like the root of a machine, with the files of /proc and /sys that the
// kernel would have there.

const gather = (source: MachineSource): Promise<SystemFacts> => gatherSystemFacts(source, []);
const server = plantMachine(serverTree(), suiteFolder());
const factsOf = (tree: MachineTree): Promise<SystemFacts> => gather(plantMachine(tree));

describe('a server of two sockets', () => {
  it('tells its processors, with every core and cache counted once', async () => {
    const { processor } = await gather(server);
    expect(processor).toEqual({
      model: 'Intel(R) Xeon(R) Gold 6430 CPU @ 2.10GHz',
      architecture: 'x64',
      sockets: 2,
      cores: 4,
      threads: 8,
      numaNodes: 2,
      baseMhz: 2100,
      maxMhz: 3400,
      frequencyHow: 'base: cpufreq/base_frequency; max: cpufreq/cpuinfo_max_freq',
      caches: [
        { name: 'L1d', bytes: 49_152, count: 4, sharedByThreads: 2 },
        { name: 'L1i', bytes: 32_768, count: 4, sharedByThreads: 2 },
        { name: 'L2', bytes: 2_097_152, count: 4, sharedByThreads: 2 },
        { name: 'L3', bytes: 62_914_560, count: 2, sharedByThreads: 4 },
      ],
    });
  });

  it('tells its memory modules, empty slots left out, and that ECC is on', async () => {
    const { memory } = await gather(server);
    expect(memory.modules).toEqual(
      [0, 1].map((mc) => ({
        slot: `CPU${mc}_DIMM_A0`,
        bytes: 34_359_738_368,
        type: 'Registered-DDR5',
        speedMts: null,
      })),
    );
    expect(memory.totalBytes).toBe(65_831_000 * 1024);
    expect(memory.modulesHow).toBe('EDAC');
    expect(memory.ecc).toEqual({ state: 'on', how: 'EDAC mode SECDED, S4ECD4ED of 2 modules' });
  });

  it('tells a bond with the cards it is made of, by the list of PCI ids, without loopback', async () => {
    const { network } = await gather(server);
    const [bond, card] = network.interfaces;
    expect(network.interfaces.map(({ name }) => name)).toEqual(['bond0', 'ens1a', 'ens1b']);
    expect(network.congestionControl).toBe('cubic');
    expect(bond).toMatchObject({
      fabric: 'Ethernet',
      backing: 'software',
      madeOf: ['ens1a', 'ens1b'],
      speedMbps: 200_000,
      addresses: ['10.0.0.2/24', 'fd00::2/64'],
    });
    expect(card).toEqual({
      name: 'ens1a',
      fabric: 'Ethernet',
      backing: 'hardware',
      madeOf: [],
      driver: 'mlx5_core',
      model: 'Mellanox Technologies MT2910 Family [ConnectX-7]',
      pciId: '15b3:1021',
      speedMbps: 100_000,
      duplex: 'full',
      mtu: 9000,
      linkState: 'up',
      // Its interface id holds the MAC address.
      addresses: ['2001:db8:0:0::/64'],
      hasRdma: true,
    });
  });

  it('tells its disks without loops and sticks, its system, and no enclosure', async () => {
    const { storage, software, enclosure, bootId } = await gather(server);
    expect(storage).toEqual([
      {
        name: 'nvme0n1',
        kind: 'NVMe SSD',
        model: 'SAMSUNG MZQL23T8HCLS',
        bytes: 3_840_755_982_336,
      },
    ]);
    expect(software.operatingSystem).toBe('Debian GNU/Linux 12 (bookworm)');
    expect(software.kernel).toBe('Linux 6.1.0-18-amd64');
    expect(bootId).toBe('boot-of-server');
    expect(enclosure).toMatchObject({
      vendor: 'Dell Inc.',
      product: 'PowerEdge R760',
      virtualMachine: null,
      container: null,
    });
  });

  it.each([
    ['a module without it', 'None', 'off'],
    ['a mode that nobody knows', 'Unknown', null],
    ['one that only detects', 'PARITY', null],
  ])('does not call ECC on with %s', async (_case, mode, state) => {
    const path = '/sys/devices/system/edac/mc/mc1/dimm0/dimm_edac_mode';
    const { memory } = await gather(withFile(server, path, mode));
    expect(memory.ecc.state).toBe(state);
    expect(memory.ecc.how).toContain(mode);
  });

  it('reads rows of chips where the kernel is too old for modules', async () => {
    const row = 'sys/devices/system/edac/mc/mc0/csrow0';
    const files = {
      [`${row}/size_mb`]: '8192',
      [`${row}/mem_type`]: 'DDR3',
      [`${row}/edac_mode`]: 'SECDED',
    };
    const { memory } = await factsOf({ files });
    expect(memory.modules).toEqual([
      { slot: 'mc0/csrow0', bytes: 8 * 1024 ** 3, type: 'DDR3', speedMts: null },
    ]);
    expect(memory.ecc.state).toBe('on');
  });
});

describe('other machines', () => {
  it('a laptop has no ECC by its firmware, a radio, and a link without a rate', async () => {
    const { memory, network, storage, processor } = await factsOf(laptopTree());
    expect(memory.ecc).toEqual({ state: 'off', how: 'DMI type 16 says: None' });
    expect(memory.modules).toEqual([
      { slot: 'ChannelA-DIMM0', bytes: 16 * 1024 ** 3, type: 'DDR4', speedMts: 2666 },
    ]);
    expect(network.interfaces).toMatchObject([
      { name: 'enp0', fabric: 'Ethernet', speedMbps: null, duplex: null, linkState: 'down' },
      { name: 'wlp1', fabric: '802.11', pciId: '8086:2723', model: null, speedMbps: null },
    ]);
    expect(storage[0]?.kind).toBe('HDD');
    expect(processor).toMatchObject({ baseMhz: 1600, frequencyHow: 'base: the name of the model' });
  });

  it('a container says so, with its limits, the virtual machine around it, and no card', async () => {
    const { enclosure, network, storage } = await factsOf(containerTree());
    expect(enclosure).toMatchObject({
      container: 'Kubernetes',
      containerHow: '/proc/self/mountinfo',
      virtualMachine: 'KVM',
      cpuLimit: 2.5,
      memoryLimitBytes: 8 * 1024 ** 3,
    });
    expect(network.interfaces[0]).toMatchObject({ backing: 'software', fabric: null });
    expect(storage[0]?.kind).toBe('virtual disk');
  });

  it('an ARM machine is named by its core, with sockets unknown', async () => {
    const { processor, enclosure, storage } = await factsOf(armTree());
    expect(processor).toMatchObject({
      model: 'Arm Neoverse-N1',
      architecture: 'arm64',
      sockets: null,
      cores: 2,
      threads: 2,
      baseMhz: 2600,
      maxMhz: null,
    });
    expect(enclosure.product).toBe('Some Board');
    expect(storage).toMatchObject([{ name: 'mmcblk0', kind: 'flash card' }]);
  });

  it('an ARM machine with two kinds of cores names both, with numbers for one without a name', async () => {
    const thread = (implementer: string, part: string): string =>
      `processor : 0\nCPU implementer : ${implementer}\nCPU architecture: 8\nCPU part : ${part}\n\n`;
    const threads = [thread('0x41', '0xd0b'), thread('0x41', '0xd0b'), thread('0x99', '0x001')];
    const { processor } = await factsOf({ files: { 'proc/cpuinfo': threads.join('') } });
    expect(processor.model).toBe('Arm Cortex-A76 + ARM core with implementer 0x99, part 0x001');
  });

  it('an accelerator on the PCI bus is seen without nvidia-smi, its console is not', async () => {
    const gpu = 'sys/bus/pci/devices/0000:41:00.0';
    const { accelerators } = await factsOf({
      files: {
        [`${gpu}/class`]: '0x030200',
        [`${gpu}/vendor`]: '0x10de',
        [`${gpu}/device`]: '0x2335',
        [`${gpu}/max_link_speed`]: '32.0 GT/s PCIe',
        [`${gpu}/max_link_width`]: '16',
        'sys/bus/pci/devices/0000:03:00.0/class': '0x030000',
        'sys/bus/pci/devices/0000:03:00.0/vendor': '0x1a03',
        'sys/bus/pci/devices/0000:03:00.0/device': '0x2000',
      },
    });
    expect(accelerators).toMatchObject([
      { model: 'PCI device 10de:2335', hostInterconnect: 'PCIe 5.0 x16', ecc: { state: null } },
    ]);
  });

  it('nvidia-smi tells memory, ECC and bus, and what it does not know stays unknown', async () => {
    const table =
      'NVIDIA H200, 143771, Enabled, 1980, 5, 16, 570.1\nNVIDIA Odd, [N/A], [N/A], [N/A], [N/A], [N/A], 570.1';
    const source = { ...plantMachine({ files: {} }), output: () => Promise.resolve(table) };
    const { accelerators } = await gather(source);
    expect(accelerators[0]).toEqual({
      model: 'NVIDIA H200',
      memoryBytes: 143_771 * 1024 ** 2,
      ecc: { state: 'on', how: 'nvidia-smi ecc.mode.current: Enabled' },
      maxMhz: 1980,
      hostInterconnect: 'PCIe 5.0 x16',
      driver: '570.1',
      how: 'nvidia-smi',
    });
    expect(accelerators[1]).toMatchObject({
      memoryBytes: null,
      ecc: { state: null },
      maxMhz: null,
      hostInterconnect: null,
    });
  });

  it('a machine of which nothing can be read has nothing but nulls', async () => {
    const facts = await factsOf({ files: {} });
    expect(facts.processor).toMatchObject({
      model: null,
      sockets: null,
      cores: null,
      threads: null,
    });
    expect(facts.memory).toMatchObject({ totalBytes: null, modules: [], ecc: { state: null } });
    expect([facts.storage, facts.accelerators, facts.network.interfaces]).toEqual([[], [], []]);
    expect(facts.enclosure).toMatchObject({ container: null, virtualMachine: null });
    expect(facts.software.operatingSystem).toBeNull();
    expect(facts.memory.ecc.how).toContain('EDAC has no memory controller');
  });

  it('DMI that can do ECC is not taken for ECC that is on', async () => {
    const raw = dmiTable(16, 0x17, { 6: 6 });
    const { memory } = await factsOf({ files: { 'sys/firmware/dmi/entries/16-0/raw': raw } });
    expect(memory.ecc.state).toBeNull();
    expect(memory.ecc.how).toContain('Multi-bit ECC, which is what the memory can do');
  });

  it.each([
    ['docker by its file', { '.dockerenv': '' }, 'docker'],
    ['podman by its file', { 'run/.containerenv': '' }, 'podman'],
    ['docker by its group', { 'proc/self/cgroup': '4:memory:/docker/0a1b' }, 'docker'],
    ['Kubernetes by its group', { 'proc/self/cgroup': '0::/kubepods.slice/a' }, 'Kubernetes'],
    ['a name by systemd', { 'run/systemd/container': 'systemd-nspawn' }, 'systemd-nspawn'],
    ['no container on a host', { 'proc/self/cgroup': '0::/system.slice/a.service' }, null],
  ])('finds %s', async (_case, files, container) => {
    expect((await factsOf({ files })).enclosure.container).toBe(container);
  });

  it.each([
    ['Amazon EC2', 'm7i.metal-24xl', null],
    ['VMware, Inc.', 'VMware7,1', 'VMware'],
    ['Microsoft Corporation', 'Virtual Machine', 'Hyper-V'],
    ['Microsoft Corporation', 'Surface Laptop', null],
  ])('%s %s is the virtual machine %s', async (vendor, product, kind) => {
    const files = {
      'sys/class/dmi/id/sys_vendor': vendor,
      'sys/class/dmi/id/product_name': product,
    };
    expect((await factsOf({ files })).enclosure.virtualMachine).toBe(kind);
  });
});

describe('what comes out', () => {
  it.each([
    ['server', () => server],
    ['laptop', () => plantMachine(laptopTree())],
    ['container', () => plantMachine(containerTree())],
  ])('holds no MAC address and no serial number: %s', async (_case, source) => {
    const text = JSON.stringify(await gather(source()));
    for (const secret of SECRETS) expect(text).not.toContain(secret);
  });

  it('survives files of any content', async () => {
    const machines = [serverTree(), laptopTree(), containerTree()].map((tree) => {
      const root = tempFolder();
      return { root, paths: Object.keys(tree.files), source: plantMachine(tree, root) };
    });
    const words = ['-1', '0', '4294967296', '0-70000', '1-0', '\0\n', '[]', '99999999999999999999'];
    const content = fc.oneof(fc.uint8Array({ maxLength: 300 }), fc.constantFrom(...words));
    const attack = fc.record({ file: fc.nat(200), content });
    const attacks = fc.array(attack, { minLength: 1, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(fc.nat(2), attacks, async (index, spoiled) => {
        const { root, paths, source } = machines[index] as (typeof machines)[number];
        for (const one of spoiled) {
          writeFileSync(join(root, paths[one.file % paths.length] as string), one.content);
        }
        systemFactsSchema.parse(await gather(source));
      }),
      { numRuns: 15 },
    );
  });

  it('does not wait for a pipe, and takes a folder for nothing', async () => {
    const root = tempFolder();
    mkdirSync(join(root, 'proc/cpuinfo'), { recursive: true });
    execFileSync('mkfifo', [join(root, 'proc/meminfo')]);
    const source = machineAt(root, plantMachine({ files: {} }).os);
    const facts = await gather(source);
    expect(facts.memory.totalBytes).toBeNull();
    expect(facts.processor.model).toBeNull();
    rmSync(root, { recursive: true });
  });
});
